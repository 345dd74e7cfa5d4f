"""DRAGIN's stage: after each sentence, was a word uncertain and important? Then what to look for.

Paper 000, appendix A.2; the formulas are in `decoding.rind`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragcli.decoding import rind
from ragcli.decoding.detokenise import Utf8
from ragcli.decoding.options import Setting
from ragcli.errors import ModelError
from ragcli.llm.base import EncodedPrompt
from ragcli.methods.stages import Again, Tools, Written
from ragcli.text.normalise import readable

DRAGIN_SETTINGS: dict[str, Setting] = {
    "dragin.theta": Setting(
        float, 1.3, "RIND score of a word from which is retrieved again",
        "DRAGIN 0.6-1.3, per model; default ours", low=0, high=1000,
    ),
    "dragin.top_n": Setting(
        int, 25, "words of a query", "FKE A.2, DRAGIN: 25-35", low=1, high=1000
    ),
    "dragin.over": Setting(
        str, "question", "text that a query is taken from: question and answer so far, the answer"
        " alone, or all of them and the documents", "FKE A.2; reading ours",
        choices=("question", "answer", "prompt"),
    ),
    "dragin.rounds": Setting(
        int, 3, "most further retrievals; then the answer is written to its end", "ours",
        low=0, high=100,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rind:
    """The first word of a sentence above `dragin.theta` asks for what QFS makes of its row."""

    def rounds(self, tools: Tools) -> int:
        return tools.number("dragin.rounds")

    def __call__(self, written: Written, tools: Tools) -> Again | None:
        """Raises ModelError where there are no attention rows."""
        steps = written.steps
        rows = [step.looked for step in steps] + ([written.after] if written.after else [])
        if not all(rows):
            raise ModelError(
                f"attention cannot be read: {tools.generator.tap_reason or 'no rows came'}",
                hint="use another --base, or another model",
            )
        sentence = steps[written.first :]
        impact = rind.impacts(rows, len(written.prompt), written.first, len(steps))
        scored = rind.rind(
            [step.text for step in sentence],
            [step.entropy for step in sentence],
            impact.tolist(),
            written.language,
        )
        word = rind.first_above(scored, float(tools.settings.extra["dragin.theta"]))
        if word is None:
            return None
        query = self._query(written, written.first + word.token, tools)
        return Again(query, word.text, word.score) if query else None

    def _query(self, written: Written, token: int, tools: Tools) -> str:
        """QFS over what stands before the token, as its predicting position looks at it."""
        before = [step.text for step in written.steps[:token]]
        texts = [*prompt_texts(written.prompt, tools), *before]
        row = written.steps[token].looked
        kept = asked(written, texts[: len(written.prompt)], tools.choice("dragin.over"))
        kept += range(len(written.prompt), len(texts))
        # texts that do not stand side by side must not run into one word
        parts = [
            f" {texts[at]}" if n and kept[n - 1] != at - 1 else texts[at]
            for n, at in enumerate(kept)
        ]
        weights = [row[at] for at in kept]
        return rind.query(parts, weights, tools.number("dragin.top_n"), written.language)


def prompt_texts(prompt: EncodedPrompt, tools: Tools) -> list[str]:
    """The text of each prompt token; control tokens have none."""
    utf8 = Utf8(tools.generator.vocabulary)
    return [utf8.push(int(token)) for token in prompt.tokens]


def asked(written: Written, texts: list[str], over: str) -> list[int]:
    """Positions of the prompt that a query may be taken from, ascending.

    "answer": the answer so far, with which the prompt ends. "question": the question too, which
    stands after the documents; where its text cannot be found, all that stands after them.
    "prompt": the documents too.
    """
    spans = rind.ranges(texts)
    whole = "".join(texts)
    sources = [at for at, owner in enumerate(written.prompt.owner.tolist()) if owner >= 0]
    begins = spans[sources[-1]].end if sources else 0
    tail = len(whole.rstrip()) - len(written.so_far.rstrip()) if written.so_far else len(whole)
    text = readable(written.question)
    at = whole.find(text, begins, tail)
    question = range(at, at + len(text)) if at >= 0 else range(begins, tail)
    first = {"answer": tail, "question": question.start, "prompt": 0}[over]
    if over == "prompt" and sources:
        first = spans[sources[0]].start
    return [
        n for n, span in enumerate(spans)
        if len(span) and span.start >= first - 1 and span.end > first
        and (span.start < question.stop or span.end > tail)
    ]  # fmt: skip
