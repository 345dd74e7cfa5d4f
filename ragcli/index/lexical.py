"""BM25 over pre-analysed terms; the only file that imports tantivy.

tantivy sees terms joined by blanks and splits them there, nothing else: what a term is,
`ragcli.text.analysis` decides, for texts and queries alike. Queries are built from terms,
never parsed. tantivy's BM25 has k1 = 1.2 and b = 0.75; field scores add up.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragcli.errors import IndexUnusable

if TYPE_CHECKING:
    from collections.abc import Iterator

# Chosen on cran, nq and xquad (tests/bench/retrieval.py); between 0.1 and 0.5 little moves.
BOOSTS = {"title": 0.3, "heading": 0.2, "body": 1.0}
ANALYZER = "terms"
HEAP_BYTES = 24_000_000  # of terms between two segments; 64 MB is not quicker
MOST_TERMS = 512  # of one query; a pasted page is cut there
_DISK = re.compile(r"(?:Os \{ code: |os error )(\d+)")  # how Rust shows an error of the system
NOT_CLONED = (".tantivy-writer.lock", ".tantivy-meta.lock")


@dataclass(frozen=True, slots=True)
class LexicalRow:
    """A passage as tantivy sees it: terms of each field joined by blanks."""

    passage: int
    file: int
    title: str
    heading: str
    body: str


class Lexical:
    """A searchable snapshot."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self._schema = index.schema
        self._searcher = index.searcher()

    @classmethod
    def open(cls, folder: Path) -> Lexical:
        """Raises IndexUnusable if the folder holds no whole tantivy index."""
        import tantivy

        with _translated():
            index = tantivy.Index.open(str(folder))
            index.register_tokenizer(ANALYZER, _analyzer())
            return cls(index)

    @classmethod
    def in_memory(cls, rows: Iterable[LexicalRow]) -> Lexical:
        """For a reader that may not write and finds no derived files."""
        import tantivy

        with _translated():
            index = tantivy.Index(_schema())
            _change(index, (), rows)
            index.reload()
            return cls(index)

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def passages(self) -> list[int]:
        """All that can be found, in no order."""
        from tantivy import Query

        with _translated():
            everything = Query.all_query()
            hits = self._searcher.search(everything, max(1, len(self)), count=False).hits
            found = self._searcher.fast_field_values("passage", [place for _, place in hits])
            return [int(passage) for passage in found]

    def search(
        self, variants: Sequence[Sequence[str]], limit: int, files: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """(passage, BM25 score), best first, ties by passage.

        variants: the query's terms, once per language of the index; a passage has the score
        of the variant that fits it best. A term given twice counts twice. files: only
        passages of these.
        """
        with _translated():
            query = self._query(variants, files)
            if query is None:
                return []
            hits = self._searcher.search(query, limit, count=False).hits
            passages = self._searcher.fast_field_values("passage", [place for _, place in hits])
        found = [(int(p), float(score)) for p, (score, _) in zip(passages, hits, strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def _query(self, variants: Sequence[Sequence[str]], files: Collection[int] | None) -> Any:
        from tantivy import Occur, Query

        alternatives = [self._any_of(terms) for terms in variants if terms]
        if not alternatives or (files is not None and not files):
            return None
        query = Query.disjunction_max_query(alternatives)
        if files is None:
            return query
        within = Query.const_score_query(
            Query.term_set_query(self._schema, "file", sorted(files)), 0.0
        )
        return Query.boolean_query([(Occur.Must, query), (Occur.Must, within)])

    def _any_of(self, terms: Sequence[str]) -> Any:
        from tantivy import Occur, Query

        counts = Counter(terms)
        clauses = []
        for term in list(counts)[:MOST_TERMS]:
            for field, boost in BOOSTS.items():
                query = Query.term_query(self._schema, field, term, "freq")
                clauses.append((Occur.Should, Query.boost_query(query, boost * counts[term])))
        return Query.boolean_query(clauses)


def build(folder: Path, rows: Iterable[LexicalRow]) -> None:
    """A new index in the new folder `folder`."""
    import tantivy

    folder.mkdir()
    with _translated(writing=True):
        _change(tantivy.Index(_schema(), str(folder)), (), rows)


def extend(
    previous: Path, folder: Path, removed_files: Sequence[int], rows: Iterable[LexicalRow]
) -> None:
    """A new index in `folder`: the previous one without some files, with more rows.

    Segment files never change, and tantivy replaces its list of segments by renaming, so
    hard links share them and `previous` stays as it is for those who read it.
    """
    import tantivy

    folder.mkdir()
    for file in previous.iterdir():
        if file.name not in NOT_CLONED:
            _link_or_copy(file, folder / file.name)
    with _translated(writing=True):
        _change(tantivy.Index.open(str(folder)), removed_files, rows)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        target.write_bytes(source.read_bytes())


def _change(index: Any, removed_files: Sequence[int], rows: Iterable[LexicalRow]) -> None:
    import tantivy

    index.register_tokenizer(ANALYZER, _analyzer())
    writer = index.writer(HEAP_BYTES, 1)
    if removed_files:
        # Deletion by term does not match numbers in tantivy 0.27; by query it does.
        gone = tantivy.Query.term_set_query(index.schema, "file", list(removed_files))
        writer.delete_documents_by_query(gone)
    for row in rows:
        document = tantivy.Document()
        document.add_unsigned("passage", row.passage)
        document.add_unsigned("file", row.file)
        for field in BOOSTS:
            document.add_text(field, getattr(row, field))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    for field in BOOSTS:
        builder.add_text_field(field, tokenizer_name=ANALYZER, index_option="freq")
    builder.add_unsigned_field("passage", fast=True)
    builder.add_unsigned_field("file", indexed=True)
    return builder.build()


def _analyzer() -> Any:
    import tantivy

    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


@contextmanager
def _translated(*, writing: bool = False) -> Iterator[None]:
    """tantivy raises ValueError for nearly everything, and panics for some damage."""
    try:
        yield
    except (ValueError, OSError, SystemError, RuntimeError) as error:
        if writing and (said := _DISK.search(str(error))):
            code = int(said[1])
            raise OSError(code, os.strerror(code)) from error
        if writing and "writer was killed" in str(error):  # tantivy keeps the reason to itself
            raise OSError(errno.EIO, os.strerror(errno.EIO)) from error
        raise IndexUnusable(f"the lexical index is damaged ({error})") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # not an Exception, and not importable
            raise
        raise IndexUnusable(f"the lexical index is damaged ({error})") from error
