"""Hand-made records for tests of what is printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ragcli.types import (
    Answer,
    AnswerSentence,
    Citation,
    Document,
    Hit,
    Passage,
    RetrieverScore,
    Risk,
    Sentence,
    Source,
    Span,
    Step,
    Verdict,
)

TEXT = "The boiler holds 3 bar. It is drained in October."


def document(path: str = "/srv/notes/boiler.md", kind: str = "markdown", id: int = 1) -> Document:
    folder = Path(path).parent
    return Document(id, folder, Path(path).name, kind, "Boiler", "a" * 64, "en")


def sentence(start: int = 0, end: int = 23, *, page: int | None = None, line: int = 3) -> Sentence:
    return Sentence(7, 1, 5, start, end, TEXT[start:end], page, line, "Boiler > Limits")


def hit(path: str = "/srv/notes/boiler.md", page: int | None = None, text: str = TEXT) -> Hit:
    first = replace(sentence(page=page), text=text[:23])
    passage = Passage(5, 1, 0, len(text), text, page, 3, "Boiler > Limits", (first,))
    return Hit(
        1, 0.0328, document(path), passage, RetrieverScore(5.21, 1), RetrieverScore(0.62, 2),
        first, 0.7, (0.7,),
    )  # fmt: skip


def steps() -> tuple[Step, ...]:
    words = ["The", " boiler", " holds", " 3", " bar", "."]
    risks = [0.01, 0.02, 0.1, 0.5, 0.02, 0.0]
    return tuple(
        Step(
            n, text, -0.1 * n, 0.5, Risk(0.8, 0.5, risk, risk),
            calibrated=text == " 3", alternative=" 4" if text == " 3" else None,
            attention=(0.25, 0.5),
        )
        for n, (text, risk) in enumerate(zip(words, risks, strict=True))
    )  # fmt: skip


def answer(**changes: object) -> Answer:
    first, second = sentence(), sentence(24, 49, line=4)
    cited = (Citation(1, document(), first, 0.9, Verdict.SUPPORTED),)
    text = "The boiler holds 3 bar. Nobody knows why."
    whole = Answer(
        question="What does the boiler hold?",
        text=text,
        method="plain",
        sentences=(
            AnswerSentence(Span(0, 23), text[:23], cited, Verdict.SUPPORTED),
            AnswerSentence(Span(24, 41), text[24:], (), Verdict.UNSUPPORTED),
        ),
        steps=steps(),
        hits=(hit(),),
        selected=(Source(0, first), Source(0, second)),
        abstained=False,
        stop="end",
        warnings=("the bundled model is small",),
        timings={"retrieve": 0.01, "generate": 1.5},
        provenance={"model": {"name": "tiny"}, "seed": 0, "options": {"fke.alpha": 1.0}, "index": {"generation": 3}},
    )  # fmt: skip
    return replace(whole, **changes)  # type: ignore[arg-type]


def abstained() -> Answer:
    return answer(
        text="", sentences=(), steps=(), selected=(), abstained=True, reason="nothing fits", stop=""
    )
