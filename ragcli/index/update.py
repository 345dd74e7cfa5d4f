"""Bringing an index up to date with the files, and taking files out of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from ragcli.encoders.base import EncoderFactory, EncoderIdentity
from ragcli.errors import IndexUnusable, UsageError
from ragcli.events import Event, Indexed
from ragcli.index import asked, generations
from ragcli.index.catalog import Catalog, IndexBlocked, destroy, make_private, translated
from ragcli.index.location import require_index
from ragcli.index.lock import writer_lock
from ragcli.index.mending import mend
from ragcli.index.rebuilding import keep_vectors
from ragcli.index.run import Run
from ragcli.index.scan import known_under
from ragcli.index.versions import check_encoder, check_versions
from ragcli.index.writer import PURGE, Writer
from ragcli.paths import shown


def update(
    index_dir: Path,
    paths: Sequence[Path],
    *,
    encoder: EncoderFactory,
    identity: EncoderIdentity | None = None,
    workers: int = 1,
    rebuild: bool = False,
    verify: bool = False,
    following: bool = False,
    excludes: Sequence[str] = (),
) -> Iterator[Event]:
    """Indexes what changed under `paths`: Scanned, Removed, FileDone and Progress, then Indexed.

    Only changed files are read; `encoder` is called when the first of them holds text.
    identity: the encoder's, if known without loading it, to be compared at once.
    rebuild: read everything again, also what the index holds of other folders; needed
    after IndexUnusable. Texts that the same encoder has seen are not encoded again, and
    readers keep the old state until the new one is whole. verify: believe neither the files' stamps nor the index's own files:
    compare all content (a Verified event), and write anew what is derived and wrong.
    following: a later round of `--watch`: no FileDone for what could not be read before
    either, no error for paths that are gone, and none but an existing index. Raises
    IndexLocked, UsageError (no such path), IndexMissing, IndexUnusable (damaged, foreign,
    made in another way, disk full, not writable); what was committed before stays.
    """
    if following:
        require_index(index_dir)
    with translated(index_dir), ExitStack() as stack:
        catalog = _open(index_dir, rebuild, stack)
        meta = {} if rebuild else catalog.meta()
        check_versions(meta)
        if identity is not None:
            check_encoder(meta, identity)
        writer = Writer.start(catalog)
        stack.callback(writer.rollback)
        run = Run(writer, encoder, workers, rebuild)
        if verify:
            run.mended = mend(writer)
        yield from run.update(paths, excludes, following=following)


def forget(index_dir: Path, path: Path) -> Iterator[Event]:
    """Takes a file, or all files under a folder, out of the index: one Indexed event.

    Nothing of them stays in the index's files. Raises UsageError if it holds none of them.
    """
    require_index(index_dir)
    started = time.monotonic()
    with translated(index_dir), ExitStack() as stack:
        catalog = _open(index_dir, False, stack)
        files = {row.id: row for place in _spellings(path) for row in known_under(catalog, place)}
        if not files:
            raise UsageError(
                f"the index holds nothing of {shown(path)}",
                hint="ragcli status --files lists what it holds",
            )
        writer = Writer.start(catalog)
        stack.callback(writer.rollback)
        writer.drop(list(files))
        catalog.set_meta({asked.KEY: asked.without(catalog, list(_spellings(path))), PURGE: True})
        writer.sweep()
        writer.commit()
        writer.purge()
        yield Indexed(
            found=0, indexed=0, partial=0, unchanged=0, skipped=0, failed=0,
            removed=len(files), moved=0, passages=generations.count_passages(catalog),
            generation=writer.generation, seconds=time.monotonic() - started,
        )  # fmt: skip


def _spellings(path: Path) -> set[Path]:
    """Absolute, with and without links resolved."""
    return {Path(os.path.realpath(path)), Path(os.path.abspath(path))}  # noqa: PTH100 - keeps links


def _open(index_dir: Path, rebuild: bool, stack: ExitStack) -> Catalog:
    """The catalog, for writing, with the lock held."""
    make_private(index_dir)
    stack.enter_context(writer_lock(index_dir))
    try:
        catalog = Catalog.create(index_dir)
        if rebuild:
            catalog.check_whole()
    except IndexUnusable as error:
        if not rebuild or isinstance(error, IndexBlocked):
            raise
        if not keep_vectors(index_dir):
            destroy(index_dir)
        generations.clean(index_dir, ())
        catalog = Catalog.create(index_dir)
    stack.enter_context(closing(catalog))
    return catalog
