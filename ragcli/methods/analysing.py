"""DRAG's selection: passages by the question's components, the lowest as noise reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragcli.decoding.options import DECODERS, Setting
from ragcli.methods.frames import heading_of
from ragcli.methods.selectors import candidates_of, contexts_of, only
from ragcli.methods.stages import Context, Selection, Tools
from ragcli.selection.analyzers import Analyzer, EncoderAnalyzer, GeneratorAnalyzer, Text
from ragcli.selection.components import document_scores, relative, split
from ragcli.selection.mention import MentionRules
from ragcli.selection.scorers import EncoderScorer
from ragcli.selection.signals import best, fused
from ragcli.text.language import detect
from ragcli.types import Hit

ANALYZER_SETTINGS: dict[str, Setting] = {
    "drag.analyzer": Setting(
        str, "encoder", "what takes the question apart and scores passages",
        "DRAG section 3.2: a trained model", choices=("encoder", "generator"),
    ),
    "drag.order": Setting(
        str, "fused", "passages by components alone, or fused with their rank of retrieval",
        "DRAG section 3.2: components; default ours", choices=("components", "fused"),
    ),
    "drag.r": Setting(int, 5, "passages in the prompt", "DRAG section 4", low=1, high=100),
    "drag.inflection": Setting(
        bool, True, "a name is mentioned by its word forms too", "DRAG appendix B; reading ours"
    ),
    "drag.aliases": Setting(
        bool, True, "a name is mentioned by initials, acronym, without article or bracketed part too",
        "DRAG appendix B; reading ours",
    ),
}  # fmt: skip


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
        components = analyzer.components(question, language)
        texts = [
            Text(
                heading_of(one), tuple(s.text for s in one.sentences), one.document.language or "en"
            )
            for one in contexts
        ]
        if by_model:
            tools.at("scoring passages")
        table = analyzer.scores(components, texts)
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
        return Selection(top, fine, noise, f"components by {analyzer.name}", components)


def analyzer_of(tools: Tools) -> Analyzer:
    """The analyzer that the settings ask for; the generator is opened only where it judges."""
    aliases = bool(tools.settings.extra["drag.aliases"])
    rules = MentionRules(bool(tools.settings.extra["drag.inflection"]), aliases, aliases, aliases)
    if tools.choice("drag.analyzer") == "generator":
        return GeneratorAnalyzer(tools.generator, rules)
    return EncoderAnalyzer(tools.encode, rules)
