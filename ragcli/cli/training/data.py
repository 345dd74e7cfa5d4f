"""Questions with the sentences that an organizer learns from: needed, retrieved, random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import UsageError
from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.metrics.knowledge import are_gold
from ragcli.evaluate.types import Question
from ragcli.methods.frames import heading_of
from ragcli.methods.selectors import candidates_of, contexts_of
from ragcli.methods.stages import Context, Encode
from ragcli.selection.organiser import long_enough
from ragcli.selection.scorers import EncoderScorer
from ragcli.train.examples import Candidate, Example, choose, says
from ragcli.types import Document, Sentence

PASSAGES = 10  # retrieved for a question, as `ragcli ask` does

Shown = tuple[Document, str, Sentence]


def gather(
    corpus: Corpus, questions: Sequence[Question], most: int, tick: Callable[[int], None]
) -> list[Example]:
    """An example a question. Raises UsageError where no question has a short answer."""
    found = []
    encode = _Remembered(corpus.reader.encode)
    for number, question in enumerate(questions):
        tick(number)
        if answers := answers_of(question):
            found.append(_example(corpus, question, answers, most, encode))
    if not found:
        raise UsageError(
            "no question has an answer",
            hint='a line is such as {"question": "…", "answers": ["…"]}',
        )
    return found


def answers_of(question: Question) -> tuple[str, ...]:
    """What the generator's probability is asked of, then the aliases.

    Of several answers the first aliases together; of a long answer the answer.
    """
    if question.answers:
        return question.answers
    if question.parts:
        named = [part[0] for part in question.parts if part]
        return (", ".join(named), *(alias for part in question.parts for alias in part))
    return (question.reference,) if question.reference else ()


class _Remembered:
    """Encodes each text once: questions of one corpus find the same sentences again and again."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known |= zip(missing, self._encode(missing), strict=True)
        return np.stack([self._known[text] for text in texts])


def _example(
    corpus: Corpus, question: Question, answers: tuple[str, ...], most: int, encode: Encode
) -> Example:
    hits = corpus.reader.search(
        question.text, k=PASSAGES, where=corpus.where(question), score_sentences=False
    )
    contexts = contexts_of(hits)
    scores = EncoderScorer(candidates_of(contexts), encode).sentences(question.text, ())
    retrieved = [(c.document, heading_of(c), s) for c in contexts for s in c.sentences]
    ranked = [retrieved[at] for at in np.argsort(-scores, kind="stable")]
    needed = list(_needed(corpus, question))
    marks = _marked(corpus, question, answers)
    gold = sorted(_candidates(needed, marks), key=lambda one: not one.gold)
    pool = _candidates(retrieved, marks)
    chosen = choose(gold, list(_candidates(ranked, marks)), list(pool), question.id, most)
    return Example(question.id, question.text, answers, chosen)


def _needed(corpus: Corpus, question: Question) -> Iterable[Shown]:
    """The sentences of the passages that hold what is needed, as far as that is known."""
    for document in corpus.gold_documents(question) if corpus.root is not None else ():
        for passage in corpus.reader.passages(document.id):
            heading = heading_of(Context(document, passage.heading, (), 0.0))
            for sentence in passage.sentences:
                yield document, heading, sentence


def _marked(
    corpus: Corpus, question: Question, answers: Sequence[str]
) -> Callable[[Document, Sentence], bool]:
    """Whether a sentence holds what is asked for.

    Where the data marks sentences they say it; where it marks passages, a sentence of one that
    says an answer; where it marks nothing, any that says one.
    """
    pieces = corpus.gold(question)
    if pieces and not corpus.by_passage(question):
        return lambda document, one: are_gold([corpus.piece(document, one)], pieces)[0]
    held = {piece.document for piece in pieces}

    def says_it(document: Document, one: Sentence) -> bool:
        return (not held or document.relative in held) and says(one.text, answers)

    return says_it


def _candidates(
    shown: Iterable[Shown], marks: Callable[[Document, Sentence], bool]
) -> list[Candidate]:
    """Clean as the selector has them."""
    return [
        Candidate(sentence.text, heading, marks(document, sentence))
        for document, heading, sentence in shown
        if not sentence.is_heading and long_enough(sentence.text, document.language or "en")
    ]
