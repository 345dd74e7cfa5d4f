"""Searching one committed state of an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.closing import Closing
from ragcli.encoders.base import Encoder, EncoderFactory, EncoderIdentity
from ragcli.errors import UsageError
from ragcli.index.freshness import Freshness, freshness
from ragcli.index.fusion import RRF_K, reciprocal_rank_fusion
from ragcli.index.records import FileRecord, Records
from ragcli.index.schema import SCHEMA_VERSION
from ragcli.index.scoring import best_of, by_overlap, by_similarity
from ragcli.index.snapshot import Snapshot, open_snapshot
from ragcli.index.staleness import is_stale
from ragcli.index.status import IndexStatus, read_status
from ragcli.index.versions import check_encoder
from ragcli.index.where import EVERYWHERE, Where, matching
from ragcli.index.writer import Stamp
from ragcli.text.analysis import analyse, analyse_query
from ragcli.text.normalise import readable
from ragcli.types import Document, Hit, Passage, RetrieverScore, SearchMode, Sentence

DEPTH = 100  # passages that each retriever hands to the fusion, at least

Ranking = list[tuple[int, float]]


def query_terms(query: str, languages: Sequence[str]) -> list[list[str]]:
    """`analyse_query`, each term as often as the query says it: BM25 counts both sides."""
    counts: Counter[str] = Counter()
    for language in set(languages) or {""}:
        counts |= Counter(analyse(query, language))
    variants = analyse_query(query, languages)
    return [[term for term in terms for _ in range(max(1, counts[term]))] for terms in variants]


@dataclass(frozen=True, slots=True)
class _Found:
    """A passage with its fused score and what each retriever gave it."""

    passage: int
    score: float
    lexical: RetrieverScore | None
    dense: RetrieverScore | None


class Reader(Closing):
    """A snapshot of one committed generation; a writer at work does not change it.

    The encoder is loaded by the first search that needs it.
    """

    def __init__(self, snapshot: Snapshot, encoder: EncoderFactory) -> None:
        self._snapshot = snapshot
        self._factory = encoder
        self._encoder: Encoder | None = None
        self._records = Records(snapshot.catalog)

    @classmethod
    def open(
        cls,
        index_dir: Path,
        encoder: EncoderFactory,
        *,
        identity: EncoderIdentity | None = None,
    ) -> Reader:
        """Opens the index in `index_dir`.

        identity: the encoder's, if known without loading it, to be compared at once; else
        it is compared when the encoder is loaded. Raises IndexMissing, IndexUnusable.
        """
        snapshot = open_snapshot(index_dir)
        try:
            if identity is not None:
                check_encoder(snapshot.meta, identity)
            return cls(snapshot, encoder)
        except BaseException:
            snapshot.catalog.close()
            raise

    def close(self) -> None:
        self._snapshot.catalog.close()

    # Searching

    def search(
        self,
        query: str,
        *,
        k: int,
        mode: SearchMode = SearchMode.HYBRID,
        where: Where = EVERYWHERE,
        score_sentences: bool = True,
    ) -> tuple[Hit, ...]:
        """The best `k` passages, best first; fewer if there are not so many.

        Lexical mode loads no encoder. score_sentences False leaves `sentence_scores` and
        `best_sentence` out, which saves encoding every sentence of the hits.
        Raises UsageError for an empty query or a bad pattern, IndexUnusable if the encoder
        is another than the index's.
        """
        if not query.strip():
            raise UsageError("the query is empty", hint='ragcli search "a few words"')
        files = self._files(where)
        if k <= 0 or len(self._snapshot.dense) == 0 or files == []:
            return ()
        depth = max(DEPTH, 2 * k)
        vector = None if mode is SearchMode.LEXICAL else self.encode([query])[0]
        rankings: dict[str, Ranking] = {}
        if mode is not SearchMode.DENSE:
            rankings["lexical"] = self._lexical(query, depth, files)
        if vector is not None:
            rankings["dense"] = self._dense(vector, depth, files)
        found = self._fuse(rankings)[:k]
        return self._hits(found, query, vector, score_sentences)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts by the index's encoder: float32 (n, dimension), unit rows."""
        if self._encoder is None:
            encoder = self._factory()
            check_encoder(self._snapshot.meta, encoder.identity)
            self._encoder = encoder
        return self._encoder.encode([readable(text) for text in texts])

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of the indexed documents, "" for unknown."""
        return tuple(self._snapshot.meta.get("languages", ()))

    def _files(self, where: Where) -> list[int] | None:
        if not where:
            return None
        documents = self._records.documents()
        base = self._snapshot.catalog.index_dir.absolute().parent
        return matching(where, ((d.id, d.root, d.relative, d.kind) for d in documents), base)

    def _lexical(self, query: str, depth: int, files: list[int] | None) -> Ranking:
        variants = query_terms(query, self.languages)
        return self._ordered(self._snapshot.lexical.search(variants, depth, files))

    def _dense(self, vector: NDArray[np.float32], depth: int, files: list[int] | None) -> Ranking:
        allowed = None if files is None else self._records.passage_ids(files)
        return self._ordered(self._snapshot.dense.search(vector, depth, allowed))

    def _ordered(self, ranking: Ranking) -> Ranking:
        """Equal scores by path and place, so that the order does not depend on history."""
        places = self._records.places([passage for passage, _ in ranking])
        return sorted(ranking, key=lambda pair: (-pair[1], places[pair[0]]))

    def _fuse(self, rankings: dict[str, Ranking]) -> list[_Found]:
        scores = {
            name: {id: RetrieverScore(score, rank) for rank, (id, score) in enumerate(ranking, 1)}
            for name, ranking in rankings.items()
        }
        if len(rankings) == 1:
            fused = next(iter(rankings.values()))
        else:
            order = {name: [id for id, _ in ranking] for name, ranking in rankings.items()}
            places = self._records.places([id for ids in order.values() for id in ids])
            fused = reciprocal_rank_fusion(order, k=RRF_K, tie=lambda id: places[id])
        return [
            _Found(
                id, score, scores.get("lexical", {}).get(id), scores.get("dense", {}).get(id)
            )
            for id, score in fused
        ]  # fmt: skip

    def _hits(
        self,
        found: Sequence[_Found],
        query: str,
        vector: NDArray[np.float32] | None,
        score_sentences: bool,
    ) -> tuple[Hit, ...]:
        passages = [self._records.passage(item.passage) for item in found]
        documents = {p.document_id: self._records.document(p.document_id) for p in passages}
        scores = (
            self._sentence_scores(passages, documents, query, vector) if score_sentences else []
        )
        hits = []
        for rank, (item, passage) in enumerate(zip(found, passages, strict=True), start=1):
            own = scores[rank - 1] if scores else ()
            best = best_of(passage.sentences, own)
            hits.append(
                Hit(
                    rank=rank,
                    score=item.score,
                    document=documents[passage.document_id],
                    passage=passage,
                    lexical=item.lexical,
                    dense=item.dense,
                    best_sentence=None if best is None else passage.sentences[best],
                    best_sentence_score=0.0 if best is None else own[best],
                    sentence_scores=own,
                )
            )
        return tuple(hits)

    def _sentence_scores(
        self,
        passages: Sequence[Passage],
        documents: dict[int, Document],
        query: str,
        vector: NDArray[np.float32] | None,
    ) -> list[tuple[float, ...]]:
        if vector is not None:
            return by_similarity(passages, vector, self.encode)
        languages = [documents[p.document_id].language for p in passages]
        return by_overlap(passages, languages, analyse_query(query, self.languages))

    # Looking things up

    def document(self, id: int) -> Document:
        """Raises KeyError if there is none of that id."""
        return self._records.document(id)

    def document_at(self, path: Path) -> Document | None:
        return self._records.document_at(path)

    def documents(self) -> Iterator[Document]:
        """All documents, by root and path."""
        return self._records.documents()

    def text(self, document_id: int, start: int = 0, end: int | None = None) -> str:
        """Extracted text between two offsets, by default all of it."""
        return self._records.text(document_id, start, end)

    def passages(self, document_id: int) -> tuple[Passage, ...]:
        return self._records.passages(document_id)

    def sentences(self, document_id: int) -> tuple[Sentence, ...]:
        """A document's sentences in reading order."""
        return tuple(s for p in self._records.passages(document_id) for s in p.sentences)

    def page_starts(self, document_id: int) -> tuple[int, ...]:
        """Offset at which each page starts; empty for formats without pages."""
        return self._records.page_starts(document_id)

    def files(self) -> Iterator[FileRecord]:
        """Every file that was found, skipped and failed ones too."""
        return self._records.files()

    def status(self) -> IndexStatus:
        return read_status(self._snapshot)

    @property
    def identity(self) -> dict[str, Any]:
        """What an answer records of the index it came from."""
        meta = self._snapshot.meta
        names = ("generation", "encoder", "analyzer", "chunking", "updated")
        return {"schema": SCHEMA_VERSION} | {name: meta.get(name) for name in names}

    def freshness(self) -> Freshness:
        """What is new, changed and deleted on disk, by a walk."""
        return freshness(self._snapshot.catalog)

    def stale(self, documents: Sequence[Document]) -> tuple[Document, ...]:
        """Those whose file is gone or holds other bytes than were indexed."""
        return tuple(
            document
            for document in documents
            if is_stale(document, Stamp(*self._records.stamp(document.id)))
        )
