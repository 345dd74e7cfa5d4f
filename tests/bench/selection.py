"""How well selectors find the needed sentences, and what extraction costs.

usage: selection.py [--model PATH.gguf] [--questions 40] [--only NAME ...] [--ratio 3] [--json]

Sentences: HotpotQA, each question's own ten passages; knowledge precision, recall and F1, means
over questions, `sentences` and `seconds` a question. Passages: MuSiQue, ten of twenty
retrieved, the passages that hold what was selected (`passages`). Selectors whose name ends in
"generator" or "hybrid" need the model and run on `--generator-questions` only.
`extraction_time_ratio`: seconds of the extractor `--ratio-of` over ten passages by those of ten
prompts through llama_cpp.Llama that write the extraction out; `written` is how good those are.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
from numpy.typing import NDArray
from passages import Encode, Item, item, prf, rows
from writing_extractor import WritingExtractor

from ragcli.encoders import open_encoder, resolve_encoder
from ragcli.llm.base import Generator
from ragcli.llm.llama import open_generator
from ragcli.llm.ondemand import OnDemand
from ragcli.methods.registry import settings_from
from ragcli.methods.selecting import SELECTORS
from ragcli.methods.stages import Selection, Tools
from ragcli.selection.extraction import Candidate
from ragcli.selection.scorers import EncoderScorer
from ragcli.selection.signals import best

Select = Callable[[Item], frozenset[int]]  # ids of the selected sentences


@dataclass(frozen=True, slots=True)
class Variant:
    """A selector of the product under settings."""

    selector: str
    settings: tuple[str, ...] = ()
    model: bool = False


VARIANTS: dict[str, Variant] = {
    "similar": Variant("similar"),
    "fke-encoder": Variant("fke"),
    "fke-encoder-standard": Variant("fke", ("fke.prompting=standard",)),
    "fke-hybrid": Variant("fke", ("fke.extractor=hybrid",), True),
    "fke-hybrid-standard": Variant(
        "fke", ("fke.extractor=hybrid", "fke.prompting=standard"), True
    ),
    "fke-hybrid-copying": Variant("fke", ("fke.extractor=hybrid", "fke.signal=copying"), True),
    "fke-hybrid-yes-no": Variant("fke", ("fke.extractor=hybrid", "fke.signal=yes-no"), True),
    "fke-generator": Variant("fke", ("fke.extractor=generator",), True),
    "drag": Variant("drag"),
    "drag-components": Variant("drag", ("drag.order=components",)),
    "drag-generator": Variant("drag", ("drag.analyzer=generator",), True),
    "ggatrieval": Variant("ggatrieval"),
    "ggatrieval-generator": Variant("ggatrieval", ("ggatrieval.backend=generator",), True),
}  # fmt: skip


def hybrid(encode: Encode, m: int = 3) -> Select:
    """The baseline at equal budget: BM25 and encoder over all sentences, fused."""

    def select(one: Item) -> frozenset[int]:
        sentences = [(s, hit) for hit in one.hits for s in hit.passage.sentences]
        texts = [Candidate(s.text, hit.document.title) for s, hit in sentences]
        scores = EncoderScorer(texts, encode).sentences(one.question, ())
        return frozenset(sentences[at][0].id for at in best(scores, m))

    return select


def product(variant: Variant, encode: Encode, generator: Generator) -> Select:
    """A selector as the engine runs it, for a decoder with a sentence branch."""
    settings = settings_from(list(variant.settings))
    tools = Tools(lambda _query, _k: (), generator, encode, settings, "fke")
    stage = SELECTORS[variant.selector].stage

    def select(one: Item) -> frozenset[int]:
        return chosen(stage(one.question, one.hits, tools))

    return select


def chosen(selection: Selection) -> frozenset[int]:
    return frozenset(s.id for context in selection.sentences for s in context.sentences)


def measure(select: Select, sentences: Sequence[Item], passages: Sequence[Item]) -> dict[str, Any]:
    """The numbers of one selector."""
    start = time.perf_counter()
    found = [select(one) for one in sentences]
    seconds = (time.perf_counter() - start) / len(sentences)
    kp, kr, kf1 = means([prf(ids, one.gold) for ids, one in zip(found, sentences, strict=True)])
    result: dict[str, Any] = {
        "kp": kp, "kr": kr, "kf1": kf1, "sentences": round(mean(map(len, found)), 2),
        "seconds": round(seconds, 3), "questions": len(sentences),
    }  # fmt: skip
    if passages:
        held = [frozenset(i // 100 for i in select(one)) for one in passages]
        kp, kr, kf1 = means(
            [prf(ids, one.gold_passages) for ids, one in zip(held, passages, strict=True)]
        )
        result["passages"] = {
            "kp": kp, "kr": kr, "kf1": kf1, "passages": round(mean(map(len, held)), 2),
            "questions": len(passages),
        }  # fmt: skip
    return result


def means(values: Sequence[tuple[float, float, float]]) -> list[float]:
    return [round(mean(column), 4) for column in zip(*values, strict=True)]


def ratio(ours: Select, written: WritingExtractor, items: Sequence[Item]) -> dict[str, Any]:
    """Seconds of one extraction by those of ten prompts that write it; both warmed up."""
    ours(items[0])
    written.extract(items[0].question, items[0].hits[:1])
    written.tokens = 0
    spent, baseline, found = [], [], []
    for one in items:
        start = clocks()
        ours(one)
        middle = clocks()
        found.append(written.extract(one.question, one.hits)[:3])
        spent.append(middle - start)
        baseline.append(clocks() - middle)
    wall, cpu = sum(spent) / sum(baseline)
    kp, kr, kf1 = means([prf(frozenset(f), i.gold) for f, i in zip(found, items, strict=True)])
    return {
        "extraction_time_ratio": round(float(wall), 4),
        "extraction_processor_ratio": round(float(cpu), 4),
        "extraction_seconds": round(float(np.mean(spent, axis=0)[0]), 3),
        "written": {"kp": kp, "kr": kr, "kf1": kf1, "seconds": round(float(np.mean(baseline, axis=0)[0]), 3),
                    "tokens": round(written.tokens / len(items), 1), "questions": len(items)},
    }  # fmt: skip


def clocks() -> NDArray[np.float64]:
    """(2,) wall and processor seconds: the latter tells more on a machine that is busy."""
    return np.array([time.perf_counter(), time.process_time()])


def run(options: argparse.Namespace) -> dict[str, Any]:
    encoder = open_encoder(resolve_encoder(None), threads=options.threads)
    cache: dict[str, Any] = {}

    def items(name: str, count: int) -> list[Item]:
        made = cache.setdefault(name, {})
        for at, row in enumerate(rows(name, count, options.skip)):
            if at not in made:
                made[at] = item(row, encoder.encode)
        return [made[at] for at in range(min(count, len(made)))]

    generator = OnDemand(lambda: open_generator(options.model, threads=options.threads, n_ctx=4096))
    try:
        selects: dict[str, Select] = {"hybrid": hybrid(encoder.encode)}
        selects |= {n: product(v, encoder.encode, generator) for n, v in VARIANTS.items()}
        result: dict[str, Any] = {"model": options.model.name, "selectors": {}}
        for name in options.only or selects:
            slow = name in VARIANTS and VARIANTS[name].model
            n = options.generator_questions if slow else options.questions
            result["selectors"][name] = measure(
                selects[name],
                items("hotpotqa_dev", n),
                items("musique_dev", min(n, options.passages)) if options.passages else [],
            )
            note(name, result["selectors"][name])
        if options.ratio:
            written = WritingExtractor(options.model, options.threads)
            few = items("hotpotqa_dev", options.ratio)
            result |= {"ratio_of": options.ratio_of} | ratio(
                selects[options.ratio_of], written, few
            )
    finally:
        generator.close()
    return result


def note(name: str, numbers: Mapping[str, Any]) -> None:
    print(f"{name:22} {json.dumps(numbers)}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--generator-questions", type=int, default=15)
    parser.add_argument("--passages", type=int, default=30)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--ratio", type=int, default=3)
    parser.add_argument("--ratio-of", default="fke-hybrid", choices=VARIANTS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.model is None:
        from strong_model import strong_model

        options.model = strong_model()
    result = run(options)
    print(json.dumps(result) if options.json else json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
