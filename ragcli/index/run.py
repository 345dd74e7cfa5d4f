"""One update of an index, from the plan to the summary."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragcli.encoders.base import Encoder, EncoderFactory
from ragcli.errors import IndexUnusable
from ragcli.events import Event, FileDone, Indexed, Progress, Removed, Scanned, Verified
from ragcli.index import asked, generations, ingest
from ragcli.index.catalog import Catalog
from ragcli.index.comparing import compare
from ragcli.index.embedding import Embedder
from ragcli.index.rebuilding import Kept
from ragcli.index.releasing import release_early, release_freed
from ragcli.index.scan import INDEXED, Plan, Work, scan
from ragcli.index.versions import check_encoder, versions
from ragcli.index.writer import FileRow, Stamp, Writer
from ragcli.sources.load import Extractor, Parsed
from ragcli.sources.walk import walk
from ragcli.types import FileEntry, FileStatus

BATCH_PASSAGES = 256  # encoded together; texts of similar length share a run of the encoder
COMMIT_EVERY_S = 20.0  # also for what a rebuild saves without showing it
COMMIT_SHARE = 10  # a commit may take 1/10 of the time since the last one: cost stays linear
FOREIGN_SHARE = 0.2
PROGRESS_FILES = 20  # files compared between two events


@dataclass(slots=True)
class _Counts:
    indexed: int = 0
    partial: int = 0
    skipped: int = 0
    failed: int = 0
    done: int = 0
    new_hashes: list[str] = field(default_factory=list)

    def count(self, done: FileDone) -> FileDone:
        if done.status in INDEXED:
            self.indexed += 1
            self.partial += done.status is FileStatus.PARTIAL
        elif done.status is FileStatus.SKIPPED:
            self.skipped += 1
        else:
            self.failed += 1
        return done


class Run:
    """One update, with the writer's lock held."""

    def __init__(
        self, writer: Writer, factory: EncoderFactory, workers: int, rebuild: bool
    ) -> None:
        self.writer = writer
        self.catalog = writer.catalog
        self.factory = factory
        self.workers = workers
        self.rebuild = rebuild
        self.encoder: Encoder | None = None
        self.embedder: Embedder | None = None
        self.known: ingest.Known = lambda texts: writer.known_vectors(list(texts))
        self.pending: ingest.Pending | None = None
        self.counts = _Counts()
        self.roots: dict[Path, int] = {}
        self.asked: Sequence[Path] = ()  # before, where the list is lost with the settings
        self.mended: tuple[str, ...] | None = None  # None: files are not to be verified
        self.started = self.last_commit = time.monotonic()
        self.commit_cost = 0.0

    def update(
        self, paths: Sequence[Path], excludes: Sequence[str], *, following: bool = False
    ) -> Iterator[Event]:
        """following: nothing is said of files that were not read before and still are not."""

        def walked(present: Sequence[Path]) -> Iterator[FileEntry | FileDone]:
            return walk(present, excludes=excludes)

        verify = self.mended is not None
        if following:
            paths = asked.still(self.catalog, paths)
        plan = scan(self.catalog, paths, walked, everything=self.rebuild, verify=verify)
        yield from self._compare(plan, told=verify)
        work = plan.work
        if self.rebuild:  # nothing of what the catalog holds is built upon
            work = [replace(item, known=None) for item in work]
        yield Scanned(plan.found, len(work), sum(item.stamp.size for item in work))
        yield from (Removed(known.path) for known in plan.removed)
        self._tidy(plan)
        for done, known_before in self._list_skipped(plan):
            self.counts.count(done)
            if not (following and known_before):
                yield done
        for done in plan.known_bad:
            self.counts.count(done)
            if not following:
                yield done
        if work:
            yield from self._read(work)
        self._finish(paths)
        yield self._summary(plan)

    def _compare(self, plan: Plan, *, told: bool) -> Iterator[Event]:
        """Content of files whose stamp says nothing; told: with progress and a result."""
        total = len(plan.doubtful)
        for done in compare(plan):
            if told and (done == total or done % PROGRESS_FILES == 0):
                yield Progress("verify", done, total)
        if told:
            yield Verified(total, plan.hidden, self.mended or ())

    def _tidy(self, plan: Plan) -> None:
        """Removals, new stamps, absorbed roots."""
        if self.rebuild:
            with suppress(IndexUnusable):
                self.asked = asked.asked(self.catalog)
            self.writer.clear()
            return
        for inner, outer in plan.absorbed:
            self._absorb(inner, outer)
        self.writer.drop([known.id for known in plan.removed])
        for known, stamp in plan.touched:
            self.writer.touch(known.id, stamp)

    def _absorb(self, inner: Path, outer: Path) -> None:
        old = {root.path: id for id, root in self.catalog.roots().items()}.get(inner)
        if old is not None:
            prefix = inner.relative_to(outer).as_posix()
            self.writer.reroot(old, self._root(outer), prefix)

    def _root(self, path: Path) -> int:
        if path not in self.roots:
            self.writer.begin()
            self.roots[path] = self.catalog.add_root(path)
        return self.roots[path]

    def _list_skipped(self, plan: Plan) -> Iterator[tuple[FileDone, bool]]:
        """What the walk itself left out is listed like any other file; was it before?"""
        for done, root, relative, known in plan.skipped:
            same = known is not None and (known.status, known.reason) == (done.status, done.reason)
            if self.rebuild or not same:
                if known is not None and not self.rebuild:
                    self.writer.drop([known.id])
                row = FileRow(
                    self._root(root), relative, Stamp(done.size, 0, 0), done.status, done.reason
                )
                self.writer.add(row)
            yield done, same

    def _read(self, work: Sequence[Work]) -> Iterator[Event]:
        """While one batch is encoded, the files of the next are read, cut and analysed."""
        release_early()
        try:
            with Extractor(workers=self.workers) as extractor:
                batch: list[ingest.Prepared] = []
                results = extractor.run(item.entry for item in work)
                for item, result in zip(work, results, strict=True):
                    if isinstance(result, Parsed):
                        batch.append(self._prepare(item, result))
                    else:
                        yield self._bad(item, result)
                    if sum(len(prepared.passages) for prepared in batch) >= BATCH_PASSAGES:
                        yield from self._write(batch, len(work))
                        batch = []
                yield from self._write(batch, len(work))
                yield from self._write([], len(work))
        finally:
            if self.embedder is not None:
                self.embedder.close()

    def _prepare(self, item: Work, parsed: Parsed) -> ingest.Prepared:
        if self.encoder is None:
            self.encoder = self._open_encoder()
        return ingest.prepare(item, self._root(item.root), parsed, self.encoder)

    def _open_encoder(self) -> Encoder:
        encoder = self.factory()
        check_encoder(self.catalog.meta(), encoder.identity)
        self.writer.begin()
        self.catalog.set_meta(versions(encoder.identity))
        self.embedder = Embedder(encoder)
        if self.rebuild:
            self.known = Kept(self.catalog, encoder).among
        return encoder

    def _bad(self, item: Work, done: FileDone) -> FileDone:
        if item.known is not None:
            self.writer.drop([item.known.id])
        self.writer.add(ingest.bad_row(item, self._root(item.root), done.status, done.reason))
        self.counts.done += 1
        return self.counts.count(done)

    def _write(self, batch: Sequence[ingest.Prepared], total: int) -> Iterator[Event]:
        """Has a batch encoded, and enters the one before it."""
        before, self.pending = self.pending, None
        if batch and self.embedder is not None:
            coming = before.coming if before is not None else ()
            self.pending = ingest.start(batch, self.embedder, self.known, coming)
        if before is None:
            return
        ingest.finish(self.writer, before)
        for prepared in before.batch:
            row = prepared.row
            self.counts.new_hashes.append(row.sha256)
            self.counts.done += 1
            yield self.counts.count(
                FileDone(
                    prepared.work.entry.path, row.status, row.reason, row.stamp.size,
                    len(prepared.passages),
                )
            )  # fmt: skip
        yield Progress("index", self.counts.done, total)
        self._commit_now_and_then()

    def _commit_now_and_then(self) -> None:
        """A rebuild keeps its vectors only: readers have the old state until the new is whole."""
        since = time.monotonic() - self.last_commit
        if since < max(COMMIT_EVERY_S, COMMIT_SHARE * self.commit_cost):
            return
        if self.rebuild:
            self.writer.save()
            self.last_commit = time.monotonic()
        else:
            self._commit()

    def _commit(self) -> None:
        self.commit_cost = self.writer.commit()
        release_freed()
        self.last_commit = time.monotonic()

    def _finish(self, paths: Sequence[Path]) -> None:
        listed = asked.with_asked(self.catalog, [*self.asked, *paths])
        if listed is not None:
            self.writer.begin()
            self.catalog.set_meta({asked.KEY: listed})
        self.writer.sweep()
        self._commit()

    def _summary(self, plan: Plan) -> Indexed:
        counts = self.counts
        gone = Counter(known.sha256 for known in plan.removed if known.sha256)
        moved = (gone & Counter(counts.new_hashes)).total()
        return Indexed(
            found=plan.found,
            indexed=counts.indexed,
            partial=counts.partial,
            unchanged=plan.unchanged,
            skipped=counts.skipped,
            failed=counts.failed,
            removed=len(plan.removed) - moved,
            moved=moved,
            passages=generations.count_passages(self.catalog),
            generation=self.writer.generation,
            seconds=time.monotonic() - self.started,
            warnings=_language_warning(self.catalog),
        )


def _language_warning(catalog: Catalog) -> tuple[str, ...]:
    """One line if the encoder does not know the language of a good part of the documents."""
    encoder = catalog.meta().get("encoder") or {}
    spoken = str(encoder.get("languages", ""))
    if not spoken or spoken == "multilingual":
        return ()
    rows = catalog.connection.execute(
        "SELECT language, count(*) FROM files WHERE status IN ('indexed', 'partial') "
        "AND language != '' GROUP BY language ORDER BY count(*) DESC, language"
    ).fetchall()
    foreign = [(code, n) for code, n in rows if code not in spoken.split(",")]
    total = sum(n for _, n in rows)
    if not foreign or sum(n for _, n in foreign) <= FOREIGN_SHARE * total:
        return ()
    listed = ", ".join(f"{code} {n}" for code, n in foreign[:3])
    return (
        f"the encoder {encoder.get('name')} knows {spoken} only, and {sum(n for _, n in foreign)} "
        f"of {total} documents are in other languages ({listed}): search by meaning is weak there",
    )
