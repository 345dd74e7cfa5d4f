"""An index over an evaluation's texts, and where in it the needed places are.

The passages are written as small HTML files (a title that the index knows as such, a text that
needs no markup of its own) and indexed by the ordinary way, once: both lie in the user's cache
under a key of their contents and of the encoder.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ragcli.closing import Closing
from ragcli.encoders.base import EncoderFactory, EncoderIdentity
from ragcli.errors import IndexUnusable
from ragcli.evaluate.metrics.knowledge import Piece
from ragcli.evaluate.types import Dataset, GivenPassage, Question
from ragcli.events import Event, Indexed
from ragcli.index.reader import Reader
from ragcli.index.schema import CHUNKING_VERSION, SCHEMA_VERSION
from ragcli.index.update import update
from ragcli.index.where import EVERYWHERE, Where
from ragcli.paths import user_cache_dir
from ragcli.text.analysis import ANALYZER_VERSION
from ragcli.types import Document, Sentence

Watching = Callable[[Event], None]

_PAGE = '<!DOCTYPE html><meta charset="utf-8"><title>{title}</title><p>{text}</p>\n'
_READY = "ready"


@dataclass(slots=True)
class Corpus(Closing):
    """An open index and which of its documents are whose.

    key: of the texts' contents. places: path of each passage's file below the root, by
    question id (own passages) or by passage id (a shared corpus).
    """

    reader: Reader
    key: str
    dataset: Dataset
    root: Path | None = None
    _passages: dict[str, Document] = field(default_factory=dict)

    def where(self, question: Question) -> Where:
        """What a question is answered from."""
        return Where((f"/{_name(question.id)}/",)) if self.dataset.own else EVERYWHERE

    def given(self, question: Question) -> tuple[tuple[GivenPassage, Document], ...]:
        """The passages that a question brings, in their order, and their documents."""
        if not self.dataset.own:
            return ()
        folder = _name(question.id)
        return tuple(
            (passage, self._document(f"{folder}/{at:04d}.html"))
            for at, passage in enumerate(question.passages)
        )

    def gold(self, question: Question) -> tuple[Piece, ...]:
        """Places that are needed, as documents' offsets; empty where they are not known.

        Sentences, or whole documents where the data knows no more. Raises IndexUnusable where
        a marked sentence is not in the index.
        """
        if self.root is None:
            return ()
        if self.dataset.own:
            return tuple(
                p for one, document in self.given(question) for p in self._marked(one, document)
            )
        documents = self.gold_documents(question)
        if question.answer_start is not None and len(documents) == 1:
            return self._around(documents[0], question)
        return tuple(self.whole(document) for document in documents)

    def gold_documents(self, question: Question) -> tuple[Document, ...]:
        """Documents that hold what is needed."""
        if self.dataset.own:
            return tuple(d for one, d in self.given(question) if any(one.gold))
        return tuple(self._document(_place(self._at[id])) for id in question.gold_passages)

    def by_passage(self, question: Question) -> bool:
        """Whether needed are passages, not sentences."""
        if self.dataset.own:
            return any(one.gold_level == "passage" for one in question.passages)
        return question.answer_start is None

    def whole(self, document: Document) -> Piece:
        """A document as one place."""
        return Piece(document.relative, 0, max(1, len(self.reader.text(document.id))))

    def piece(self, document: Document, sentence: Sentence) -> Piece:
        return Piece(document.relative, sentence.start, sentence.end)

    def close(self) -> None:
        self.reader.close()

    @property
    def _at(self) -> dict[str, int]:
        return _numbers(self.dataset)

    def _document(self, place: str) -> Document:
        assert self.root is not None
        found = self._passages.get(place) or self.reader.document_at(self.root / place)
        if found is None:
            raise IndexUnusable(f"the evaluation's index lacks {place}", hint=_AGAIN)
        return self._passages.setdefault(place, found)

    def _marked(self, passage: GivenPassage, document: Document) -> Iterator[Piece]:
        if passage.gold_level == "passage":
            if any(passage.gold):
                yield self.whole(document)
            return
        if not any(passage.gold):
            return
        text = self.reader.text(document.id)
        for span, marked in zip(locate(text, passage.sentences), passage.gold, strict=True):
            if marked and span is None:
                raise IndexUnusable(f"a marked sentence of {document.relative} is not in the index")
            if marked and span is not None:
                yield Piece(document.relative, *span)

    def _around(self, document: Document, question: Question) -> tuple[Piece, ...]:
        """The sentences that hold the answer; data offsets are into the passage's text."""
        passage = self.dataset.corpus[self._at[question.gold_passages[0]]].sentences[0]
        begin = question.answer_start or 0
        length = len(question.answers[0]) if question.answers else 1
        seen = [len(_dense(passage[:at])) for at in (begin, begin + length)]
        places = [at for at, _ in _dense(self.reader.text(document.id))]
        start = places[min(seen[0], len(places) - 1)]
        end = places[min(max(seen[1] - 1, 0), len(places) - 1)] + 1
        held = [s for s in self.reader.sentences(document.id) if s.start < end and start < s.end]
        return tuple(self.piece(document, s) for s in held) or (self.whole(document),)


def build(
    dataset: Dataset,
    encoder: EncoderFactory,
    identity: EncoderIdentity,
    *,
    workers: int = 1,
    watch: Watching = lambda event: None,
) -> Corpus:
    """The dataset's index, made now if it was not made before. watch: told of progress.

    Raises IndexLocked where another process is making it, ModelError, IndexUnusable.
    """
    key = content_key(dataset)
    folder = user_cache_dir() / "eval" / "corpora" / f"{key[:16]}-{_form(identity)}"
    root, index = folder / "texts", folder / "index"
    if not (folder / _READY).exists():
        _write(dataset, root)
        done = None
        for event in update(index, [root], encoder=encoder, identity=identity, workers=workers):
            watch(event)
            done = event if isinstance(event, Indexed) else done
        if done is None or done.failed:
            raise IndexUnusable("some of the evaluation's texts could not be indexed", hint=_AGAIN)
        (folder / _READY).touch()
    return Corpus(Reader.open(index, encoder, identity=identity), key, dataset, root)


def _form(identity: EncoderIdentity) -> str:
    """Of everything an index must share with this program; an older one is left alone."""
    versions = f"{SCHEMA_VERSION}.{CHUNKING_VERSION}.{ANALYZER_VERSION}"
    return f"{identity.sha256[:8]}-{identity.precision}-{versions}"


def over(reader: Reader, dataset: Dataset) -> Corpus:
    """The user's own index, for questions that bring no texts."""
    made = {name: value for name, value in reader.identity.items() if name != "updated"}
    identity = json.dumps(made, sort_keys=True, default=str)
    return Corpus(reader, hashlib.sha256(identity.encode()).hexdigest(), dataset)


def content_key(dataset: Dataset) -> str:
    """SHA-256 over all passages, in order, and whose they are."""
    digest = hashlib.sha256()
    for owner, passages in _groups(dataset):
        for one in passages:
            line = json.dumps([owner, one.title, one.sentences], ensure_ascii=False)
            digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def locate(text: str, sentences: Sequence[str]) -> list[tuple[int, int] | None]:
    """Where each sentence stands in the text, in order; white space does not count.

    None for a sentence that is not there.
    """
    dense = _dense(text)
    solid = "".join(character for _, character in dense)
    found: list[tuple[int, int] | None] = []
    at = 0
    for sentence in sentences:
        wanted = "".join(character for _, character in _dense(sentence))
        start = solid.find(wanted, at) if wanted else -1
        if start < 0:
            found.append(None)
            continue
        at = start + len(wanted)
        found.append((dense[start][0], dense[at - 1][0] + 1))
    return found


def _dense(text: str) -> list[tuple[int, str]]:
    """Offset and character of all that is visible."""
    return [(at, one) for at, one in enumerate(text) if one.isprintable() and not one.isspace()]


def _groups(dataset: Dataset) -> Iterator[tuple[str, tuple[GivenPassage, ...]]]:
    """Passages by the folder they lie in."""
    if dataset.own:
        for question in dataset.questions:
            yield _name(question.id), question.passages
        return
    yield "", dataset.corpus


def _write(dataset: Dataset, root: Path) -> None:
    for owner, passages in _groups(dataset):
        for at, one in enumerate(passages):
            path = root / (f"{owner}/{at:04d}.html" if owner else _place(at))
            path.parent.mkdir(parents=True, exist_ok=True)
            text = " ".join(one.sentences)
            page = _PAGE.format(title=html.escape(one.title), text=html.escape(text))
            path.write_text(page, encoding="utf-8", errors="replace")


def _place(number: int) -> str:
    """A thousand files a folder."""
    return f"{number // 1000:04d}/{number % 1000:04d}.html"


def _name(id: str) -> str:
    """A folder's name for any id."""
    return hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _numbers(dataset: Dataset) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, passage in enumerate(dataset.corpus):
        numbers.setdefault(passage.id, number)
    return numbers


_AGAIN = "delete the folder eval in the cache and run it again"
