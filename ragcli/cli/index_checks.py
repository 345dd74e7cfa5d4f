"""Can the index be used, and is it what the files are now?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from ragcli.cli.checks import Finding, note, ok, problem
from ragcli.cli.config import Config
from ragcli.errors import IndexMissing, IndexUnusable, RagcliError
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.index.catalog import Catalog


def index(config: Config, *, deep: bool) -> Iterator[Finding]:
    """Opens, versions, encoder, search files, files that changed. No index is no problem."""
    from ragcli.cli.engine import index_dir
    from ragcli.index.catalog import Catalog

    try:
        folder = index_dir(config)
    except IndexMissing as error:
        yield note("index", "index", error.message, error.hint)
        return
    yield ok("index", "index", shown(folder))
    try:
        with closing(Catalog.open(folder)) as catalog:
            yield from _opened(catalog, config, deep=deep)
    except RagcliError as error:
        yield problem("index", "catalog", error, "ragcli index --rebuild")


def _opened(catalog: Catalog, config: Config, *, deep: bool) -> Iterator[Finding]:
    from ragcli.index.catalog import translated
    from ragcli.index.generations import count_passages
    from ragcli.index.versions import check_versions
    from ragcli.render.terminal import count

    with translated(catalog.index_dir):
        if deep:
            _verify(catalog)
        generation = catalog.generation()
        check_versions(catalog.meta())
        passages = count_passages(catalog)
        yield ok("index", "catalog", f"generation {generation}, {count(passages, 'passage')}")
        yield from _encoder(catalog, config)
        yield from _search_files(catalog, generation, deep=deep)
        yield from _files(catalog)


def _verify(catalog: Catalog) -> None:
    """Every page of the catalog. Raises IndexUnusable."""
    from ragcli.index.schema import REBUILD

    said = str(catalog.connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    if said != "ok":
        raise IndexUnusable(f"the catalog is damaged: {said}", hint=REBUILD)


def _encoder(catalog: Catalog, config: Config) -> Iterator[Finding]:
    from ragcli.encoders import resolve_encoder
    from ragcli.index.versions import check_encoder, recorded_precision

    precision = recorded_precision(catalog.index_dir)
    try:
        check_encoder(catalog.meta(), resolve_encoder(config["encoder"], precision).identity)
    except IndexUnusable as error:
        yield problem("index", "encoder", error)
    except RagcliError:  # there is none: said under models
        return
    else:
        yield ok("index", "encoder", "the one in force made it")


def _search_files(catalog: Catalog, generation: int, *, deep: bool) -> Iterator[Finding]:
    from ragcli.index.generations import open_generation
    from ragcli.index.mending import check_derived

    if generation == 0:
        yield note("index", "search files", "none: nothing is indexed", "ragcli index PATH")
        return
    try:
        (check_derived if deep else open_generation)(catalog, generation)
    except IndexUnusable as error:
        yield note("index", "search files", error.message, "`ragcli index` makes them again")
    else:
        yield ok("index", "search files", "whole")


def _files(catalog: Catalog) -> Iterator[Finding]:
    """How many files the index knows, and how many are no longer what was read."""
    from ragcli.index.freshness import freshness

    rows = catalog.connection.execute(
        "SELECT status, count(*) FROM files GROUP BY status ORDER BY status"
    )
    counts = {str(status): int(number) for status, number in rows}
    listed = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    yield ok("index", "files", listed or "none")
    now = freshness(catalog)
    if not now.is_fresh:
        value = f"{len(now.changed):,} changed, {len(now.deleted):,} gone since they were read"
        value += f", {len(now.new):,} new" if now.new else ""
        value += f", {now.unsure:,} not compared" if now.unsure else ""
        yield note("index", "freshness", value, "`ragcli index` reads what changed")
    elif counts:
        yield ok("index", "freshness", "no file changed since it was read")
    if counts.get("failed"):
        yield note("index", "failed files", f"{counts['failed']:,}", "`ragcli status` says why")
