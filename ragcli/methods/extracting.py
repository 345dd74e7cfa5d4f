"""FKE's selection: query-focused sentences of the retrieved passages beside the best passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from ragcli.decoding.options import DECODERS, Setting
from ragcli.llm.prompts import extract as prompt
from ragcli.methods.selectors import candidates_of, contexts_of, only
from ragcli.methods.stages import Selection, Tools
from ragcli.selection.extraction import Candidate, Prompting, Scorer, extract
from ragcli.selection.scorers import EncoderScorer, GeneratorScorer, HybridScorer, Signal
from ragcli.text.normalise import readable
from ragcli.types import Hit

FKE_SETTINGS: dict[str, Setting] = {
    "fke.extractor": Setting(
        str, "encoder", "what scores sentences: BM25 and encoder, the generator, or both fused",
        "FKE section 3.3: the generator; default ours", choices=("encoder", "generator", "hybrid"),
    ),
    "fke.prompting": Setting(
        str, "disentangled", "knowledge fragments first, or the sentences at once",
        "FKE section 2.2", choices=("disentangled", "standard"),
    ),
    "fke.signal": Setting(
        str, "question", "what the generator scores: the question after the sentence, the sentence"
        " after the question, or yes against no", "ours", choices=("question", "copying", "yes-no"),
    ),
    "fke.pool": Setting(
        int, 12, "sentences that the generator scores beside the encoder (hybrid)", "ours",
        low=1, high=1000,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Extract:
    """The `fke.m` best sentences of all passages, and the first `retrieval.k` passages whole.

    Under a decoder without a sentence branch the sentences stand in the passages' place. The
    noise reference is the last passage below the first `retrieval.k`.
    """

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection:
        contexts = contexts_of(hits)
        candidates = candidates_of(contexts)
        scorer = scorer_of(candidates, tools)
        prompting = cast(Prompting, tools.choice("fke.prompting"))
        found = extract(question, candidates, scorer, m=tools.settings.fke.m, prompting=prompting)
        ids = [sentence.id for context in contexts for sentence in context.sentences]
        fine = only(contexts, (ids[at] for at in found.chosen))
        k = tools.number("retrieval.k")
        whole = contexts[:k] if DECODERS[tools.decode].second == "fine" else fine
        noise = contexts[-1] if len(contexts) > k else None
        by = f"{prompting} extraction ({prompt.VERSION}), {scorer.name}"
        if found.fragments:
            by += f"; fragments: {'; '.join(readable(one.text) for one in found.fragments)}"
        return Selection(whole, fine, noise, by)


def scorer_of(candidates: Sequence[Candidate], tools: Tools) -> Scorer:
    """The scorer that the settings ask for; the generator is opened only where it scores."""
    signal = cast(Signal, tools.choice("fke.signal"))
    if tools.choice("fke.extractor") != "encoder":
        tools.at("extracting sentences")
    match tools.choice("fke.extractor"):
        case "generator":
            return GeneratorScorer(candidates, tools.generator, signal)
        case "hybrid":
            pool = tools.number("fke.pool")
            return HybridScorer(candidates, tools.encode, tools.generator, signal, pool)
        case _:
            return EncoderScorer(candidates, tools.encode)
