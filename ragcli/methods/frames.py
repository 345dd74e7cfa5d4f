"""Frames: which prompts the branches of a decoder get. One a decoder, in `FRAMES`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragcli.decoding.options import DragOptions
from ragcli.llm.prompts import answer, closed_book, unrelated
from ragcli.methods.stages import Context, Draft, Frame, Framed, Message, Selection, sources_of
from ragcli.types import Document, Sentence

NO_NOISE = "no retrieved passage is left over as noise reference: calibration is off"
NO_SENTENCES = "no sentence was selected for the second branch: fusion is off"


def documents_message(
    question: str, so_far: str, style: str, contexts: tuple[Context, ...]
) -> Message:
    """The question under the contexts. style: of the answer, one of `answer.STYLES`."""
    headings = [heading_of(context) for context in contexts]
    pieces = answer.user(question, headings, sources_of(contexts))
    return Message(answer.system(style), pieces, so_far)


def question_message(
    question: str, so_far: str, style: str, contexts: tuple[Context, ...] = ()
) -> Message:
    """The question alone."""
    return Message(closed_book.system(style), closed_book.user(question), so_far)


def heading_of(context: Context) -> str:
    """Title and heading path, the title once; the file's name where there is neither."""
    title = context.document.title or Path(context.document.relative).stem
    path = context.heading
    if not path or path == title:
        return title
    return path if path.startswith(f"{title} > ") else f"{title} — {path}"


def _draft(question: str, so_far: str, style: str, contexts: tuple[Context, ...]) -> Draft:
    return Draft(contexts, partial(documents_message, question, so_far, style))


@dataclass(frozen=True, slots=True)
class Plain:
    """One branch: the documents."""

    style: str = "sentence"

    def __call__(self, question: str, selection: Selection, so_far: str) -> Framed:
        main = _draft(question, so_far, self.style, selection.documents)
        return Framed(main, prompt=answer.version(self.style))


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """One branch: the question alone."""

    style: str = "sentence"

    def __call__(self, question: str, selection: Selection, so_far: str) -> Framed:
        return Framed(
            Draft((), partial(question_message, question, so_far, self.style)),
            prompt=closed_book.version(self.style),
        )


@dataclass(frozen=True, slots=True)
class DocumentsAndSentences:
    """Two branches (paper 000, section 2.3): the documents, and the selected sentences alone."""

    style: str = "sentence"

    def __call__(self, question: str, selection: Selection, so_far: str) -> Framed:
        main = _draft(question, so_far, self.style, selection.documents)
        if not selection.sentences:
            return Framed(main, off=NO_SENTENCES, prompt=answer.version(self.style))
        fine = _draft(question, so_far, self.style, selection.sentences)
        return Framed(main, fine=fine, prompt=answer.version(self.style))


@dataclass(frozen=True, slots=True)
class DocumentsAndNoise:
    """Two branches (paper 001, section 3.3): the documents, and a noise reference.

    reference: lowest (the lowest-scored passage, never among the documents), fixed (an
    unrelated text), question (no document).
    """

    reference: str = "lowest"
    style: str = "sentence"

    def __call__(self, question: str, selection: Selection, so_far: str) -> Framed:
        main = _draft(question, so_far, self.style, selection.documents)
        if self.reference == "question":
            noise = Draft((), partial(question_message, question, so_far, self.style))
            return Framed(main, noise=noise, prompt=answer.version(self.style))
        context = unrelated_context() if self.reference == "fixed" else selection.noise
        if context is None:
            return Framed(main, off=NO_NOISE, prompt=answer.version(self.style))
        return Framed(
            main,
            noise=_draft(question, so_far, self.style, (context,)),
            prompt=answer.version(self.style),
        )


def unrelated_context() -> Context:
    """The fixed noise text; its ids are negative, it is in no index."""
    document = Document(-1, Path(), "", "text", unrelated.TITLE, "", "en")
    sentences, at = [], 0
    for number, text in enumerate(unrelated.SENTENCES, start=1):
        sentences.append(Sentence(-number, -1, -1, at, at + len(text), text, None, 1))
        at += len(text) + 1
    return Context(document, "", tuple(sentences), 0.0)


FRAMES: dict[str, Callable[[DragOptions, str], Frame]] = {
    "plain": lambda drag, style: Plain(style),
    "fke": lambda drag, style: DocumentsAndSentences(style),
    "drag": lambda drag, style: DocumentsAndNoise(drag.reference, style),
    "drag-all": lambda drag, style: DocumentsAndNoise(drag.reference, style),
    "cad": lambda drag, style: DocumentsAndNoise("question", style),
}
