"""An answer made of source sentences alone: nothing in it can be invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragcli.methods.selectors import only, rank_sentences
from ragcli.methods.stages import Context, Selection, Tools
from ragcli.types import AnswerSentence, Citation, Hit, Span, Verdict

VERIFIER = "none: source sentences"


def chosen(
    question: str, selection: Selection, hits: Sequence[Hit], tools: Tools
) -> tuple[Context, ...]:
    """The source sentences to give, by document rank and within a document in reading order.

    Those that the selector chose, or of the documents that it chose; of more than `fke.m`
    the ones that are most similar to the question, or the first in an organiser's order.
    """
    contexts = selection.sentences or selection.documents
    most = tools.settings.fke.m
    if selection.organised is not None:
        contexts = only(contexts, [s.id for one in contexts for s in one.sentences][:most])
    elif sum(len(context.sentences) for context in contexts) > most:
        held = {s.id for context in contexts for s in context.sentences}
        shown = [hit for hit in hits if any(s.id in held for s in hit.passage.sentences)]
        ranked = [s.id for s in rank_sentences(question, shown, tools) if s.id in held]
        contexts = only(contexts, ranked[:most])
    return tuple(
        replace(one, sentences=tuple(sorted(one.sentences, key=lambda s: s.start)))
        for one in contexts
    )


def compose(contexts: Sequence[Context]) -> tuple[str, tuple[AnswerSentence, ...]]:
    """The answer's text and its sentences; each is exactly a source sentence, cited as [n].

    A line break parts passages.
    """
    text = ""
    sentences: list[AnswerSentence] = []
    for context in contexts:
        for at, sentence in enumerate(context.sentences):
            if text:
                text += " " if at else "\n"
            span = Span(len(text), len(text) + len(sentence.text))
            text += sentence.text
            number = len(sentences) + 1
            cited = Citation(number, context.document, sentence, 1.0, Verdict.SUPPORTED)
            sentences.append(AnswerSentence(span, sentence.text, (cited,), Verdict.SUPPORTED))
    return text, tuple(sentences)
