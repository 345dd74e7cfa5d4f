"""What is given where the model's own words do not stand: the source sentence that answers best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragcli.cite.evidence import PassageView, weigh
from ragcli.cite.question import Question, meets
from ragcli.methods.stages import Context
from ragcli.text.labels import other_one
from ragcli.text.normalise import readable
from ragcli.types import Hit, Sentence

# Evidence (coverage + cosine, at most 2) from which a sentence answers by itself: of 120 XQuAD
# questions 52 % reach it, 2 % after their source was taken out of the index.
STRONG = 1.45


def best_quotation(
    question: Question, shown: Sequence[Context], hits: Sequence[Hit], language: str = "en"
) -> tuple[Context, ...]:
    """The one sentence, of those shown to the model, with the strongest evidence of its own.

    A sentence that holds the kind of thing asked for (a time, a number) comes before one
    that does not; headings state nothing, and what speaks of another one than was asked of
    ("Pump B", not "Pump A") is no answer. Empty where no sentence was shown.
    """
    similar = {
        sentence.id: score
        for hit in hits
        for sentence, score in zip(hit.passage.sentences, hit.sentence_scores, strict=False)
    }

    def strength(pair: tuple[Context, Sentence]) -> tuple[bool, float]:
        context, sentence = pair
        text = readable(sentence.text)
        above = f"{context.document.title} {context.heading}"
        view = PassageView((text,), (similar.get(sentence.id, 0.0),), above)
        fits = meets(question.expects, text, question.keys, language)
        return fits, weigh(question, [view], language).score

    stating = [
        (c, s)
        for c in shown
        for s in c.sentences
        if not s.is_heading and not other_one(question.text, readable(s.text), language)
    ]
    read = "\n".join(readable(s.text) for c in shown for s in c.sentences)
    if other_one(question.text, read, language):
        return ()
    if not stating:
        return ()
    context, sentence = max(stating, key=strength)
    return (replace(context, sentences=(sentence,)),)
