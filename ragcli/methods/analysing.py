"""DRAG's selection: passages by the question's components, the lowest as noise reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ragcli.decoding.options import DECODERS, DragOptions, Setting
from ragcli.decoding.settings import Settings
from ragcli.errors import UsageError
from ragcli.llm.base import PromptPiece
from ragcli.llm.fingerprint import check_gguf, file_sha256
from ragcli.methods.frames import heading_of
from ragcli.methods.selectors import candidates_of, contexts_of, only
from ragcli.methods.stages import Context, Method, Selection, Tools
from ragcli.methods.writing import write
from ragcli.paths import shown
from ragcli.selection.analyzers import Analyzer, EncoderAnalyzer, GeneratorAnalyzer, Text
from ragcli.selection.components import document_scores, relative, split
from ragcli.selection.mention import MentionRules
from ragcli.selection.scorers import EncoderScorer
from ragcli.selection.signals import best, fused
from ragcli.selection.trained import TrainedAnalyzer
from ragcli.text.language import detect
from ragcli.text.normalise import readable
from ragcli.types import Component, Hit

ANALYZER_SETTINGS: dict[str, Setting] = {
    "drag.analyzer": Setting(
        str, "encoder", "what takes the question apart and scores passages; adapter: a trained LoRA (--adapter)",
        "DRAG section 3.2: a trained model", choices=("encoder", "generator", "adapter"),
    ),
    "drag.order": Setting(
        str, "fused", "passages by components alone, or fused with their rank of retrieval",
        "DRAG section 3.2: components; default ours", choices=("components", "fused"),
    ),
    "drag.components": Setting(
        str, "all", "the kinds of components that count; without any of them the question does",
        "DRAG section 3.2, Table 6", choices=("all", "invariant", "variant", "supplementary"),
    ),
    "drag.context": Setting(
        bool, True,
        "a component counts no more than the passage is near the question (encoder)",
        "DRAG Algorithm 1: the question is read too; reading ours",
    ),
    "drag.r": Setting(int, 3, "passages in the prompt", "DRAG section 4: 5; 3 is measured", low=1, high=100),
    "drag.inflection": Setting(
        bool, True, "a name is mentioned by its word forms too", "DRAG appendix B; reading ours"
    ),
    "drag.aliases": Setting(
        bool, True, "a name is mentioned by initials, acronym, without article or bracketed part too",
        "DRAG appendix B; reading ours",
    ),
}  # fmt: skip


# About 15 % of the tokens of plain answers to HotpotQA reach it, where retrieval scores the
# documents and r_lex is 1: the 85th percentile is 0.040 for the bundled model, 0.053 for a 0.5B
# one. With an analyzer it is 0.13 for the larger, 0.21 for the bundled model.
RETRIEVAL_DELTA = 0.05

NO_ADAPTER = "drag.analyzer=adapter needs an adapter"
ADAPTER_HINT = (
    "--adapter FILE names a LoRA (GGUF) on the generator; ragcli train analyzer makes one"
)


@dataclass(frozen=True, slots=True)
class Analyse:
    """The `drag.r` passages of the highest score; the lowest one of all is the noise reference.

    By the components' scores alone, ties in the order of retrieval, or those fused with retrieval
    by reciprocal rank. For a decoder with a sentence branch, the `fke.m` best sentences of those
    passages by BM25 and encoder.
    """

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection:
        contexts = contexts_of(hits)
        analyzer = analyzer_of(tools)
        language = detect(question) or next((c.document.language for c in contexts), "") or "en"
        by_model = tools.choice("drag.analyzer") != "encoder"
        if by_model:
            tools.at("taking the question apart")
        components = of_kind(
            analyzer.components(question, language), tools.choice("drag.components"), question
        )
        texts = [
            Text(
                heading_of(one), tuple(s.text for s in one.sentences), one.document.language or "en"
            )
            for one in contexts
        ]
        if by_model:
            tools.at("scoring passages")
        table = analyzer.scores(question, components, texts)
        drag = tools.settings.drag
        scores = document_scores(components, table, drag.alpha, drag.beta)
        order = scores
        if tools.choice("drag.order") == "fused":
            order = fused(scores, -np.arange(len(scores), dtype=np.float64))
        found = split(order, tools.number("drag.r"))
        shares = relative(scores, components, drag.alpha, drag.beta)
        ranked = [replace(c, score=float(s)) for c, s in zip(contexts, shares, strict=True)]
        top = tuple(ranked[at] for at in found.top)
        noise = None if found.noise is None else ranked[found.noise]
        fine: tuple[Context, ...] = ()
        if DECODERS[tools.decode].second == "fine":
            scores = EncoderScorer(candidates_of(top), tools.encode).sentences(question, ())
            ids = [sentence.id for context in top for sentence in context.sentences]
            fine = only(top, (ids[at] for at in best(scores, tools.settings.fke.m)))
        parts = "; ".join(f"{readable(one.text)} ({one.kind})" for one in components) or "none"
        by = f"components by {analyzer.name}: {parts}"
        return Selection(top, fine, noise, by, components)


def of_kind(components: tuple[Component, ...], kind: str, question: str) -> tuple[Component, ...]:
    """The components of that kind; where there are none, the question as a variant one."""
    if kind == "all":
        return components
    left = tuple(one for one in components if one.kind == kind)
    return left or (Component("variant", question),)


def analyzer_of(tools: Tools) -> Analyzer:
    """The analyzer that the settings ask for; the generator is opened only where it judges."""
    aliases = bool(tools.settings.extra["drag.aliases"])
    rules = MentionRules(bool(tools.settings.extra["drag.inflection"]), aliases, aliases, aliases)
    match tools.choice("drag.analyzer"):
        case "generator":
            return GeneratorAnalyzer(tools.generator, rules)
        case "adapter":
            return _trained(tools, rules)
        case _:
            in_context = bool(tools.settings.extra["drag.context"])
            return EncoderAnalyzer(tools.encode, rules, in_context=in_context)


def _trained(tools: Tools, rules: MentionRules) -> Analyzer:
    if tools.adapter is None:
        raise UsageError(NO_ADAPTER, hint=ADAPTER_HINT)
    generator = tools.generator.adapted(tools.adapter)

    def written(system: str, user: Sequence[PromptPiece], most: int) -> str:
        return write(generator, system, user, max_tokens=most)

    label = f"adapter {shown(tools.adapter.name)} ({file_sha256(tools.adapter)[:12]})"
    return TrainedAnalyzer(generator, written, label, rules)


def reads_adapter(method: Method, settings: Settings) -> bool:
    """Whether a stage of the method asks for the trained analyzer."""
    stage = getattr(method.select, "inner", method.select)  # CRAG's refinement wraps another
    return isinstance(stage, Analyse) and settings.extra["drag.analyzer"] == "adapter"


def check_adapter(method: Method, settings: Settings, adapter: Path | None) -> None:
    """Raises UsageError, ModelError, before a model is loaded, where the adapter is not there."""
    if not reads_adapter(method, settings):
        return
    if adapter is None:
        raise UsageError(NO_ADAPTER, hint=ADAPTER_HINT)
    check_gguf(adapter, ADAPTER_HINT)


def analyses(method: Method) -> bool:
    """Whether an analyzer scores the documents that the method reads."""
    stage = method.select
    return isinstance(getattr(stage, "inner", stage), Analyse)


def for_method(settings: Settings, method: Method) -> Settings:
    """The settings with `drag.delta` on the scale of the method's risk, unless it was set."""
    if analyses(method) or settings.drag.delta != DragOptions().delta:
        return settings
    return replace(settings, drag=replace(settings.drag, delta=RETRIEVAL_DELTA))
