"""How often a cited sentence holds the labelled answer (`answer_start` of XQuAD).

python tests/bench/attribution.py [--questions 100] [--model GGUF] [--gold-only] [--json]

`gold`: the labelled answer given as the answer, so that attribution alone is measured;
the passage with the answer is among those shown. `generated`: what the model wrote, shown
what was retrieved; a question counts whatever was written, and once more among those whose
text holds the answer. `first`: the best citation holds it; `any`: one of them does.
The weights were chosen on other questions of the same set (the first 100 of the order).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent))

from xquad import Item, items, xquad_index

from ragcli.cite.attribute import AttributionOptions, attribute
from ragcli.cite.verify import LexicalVerifier
from ragcli.events import Finished
from ragcli.index.reader import Reader
from ragcli.llm.llama import open_generator
from ragcli.llm.registry import resolve_model
from ragcli.methods.finish import finished_text
from ragcli.methods.registry import METHODS, SETTINGS, settings_from
from ragcli.methods.run import Asker, AskOptions
from ragcli.types import AnswerSentence, Hit, Source, Step

DEVELOPMENT = 100  # questions at the start of the order that weights were chosen on
SEED = 7


@dataclass(slots=True)
class Tally:
    """Counts over questions; a question may be cited several times."""

    questions: int = 0
    cited: int = 0
    first: int = 0
    any: int = 0
    citations: int = 0

    def add(self, item: Item, sentences: Sequence[AnswerSentence]) -> None:
        hits = [
            c.document.relative == item.gold
            and c.sentence.start <= item.answer_start < c.sentence.end
            for sentence in sentences
            for c in sentence.citations
        ]
        self.questions += 1
        self.cited += bool(hits)
        self.first += bool(hits) and hits[0]
        self.any += any(hits)
        self.citations += len(hits)

    def rates(self) -> dict[str, float]:
        total = max(1, self.questions)
        return {
            "questions": self.questions,
            "cited": round(self.cited / total, 4),
            "first": round(self.first / total, 4),
            "any": round(self.any / total, 4),
            "citations_per_question": round(self.citations / total, 3),
        }


class Attributor:
    """Attribution with given weights over one index."""

    def __init__(self, reader: Reader, options: AttributionOptions) -> None:
        self._reader, self._options = reader, options

    def __call__(
        self, question: str, text: str, steps: Sequence[Step], sources: Sequence[Source]
    ) -> tuple[AnswerSentence, ...]:
        documents = {
            source.sentence.document_id: self._reader.document(source.sentence.document_id)
            for source in sources
        }
        return attribute(
            question, text, steps, sources, documents, self._similarity, LexicalVerifier(),
            options=self._options,
        )  # fmt: skip

    def _similarity(self, said: Sequence[str], known: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._reader.encode([*said, *known])
        return np.asarray(vectors[: len(said)] @ vectors[len(said) :].T)


def shown(item: Item, reader: Reader, k: int) -> list[Hit]:
    """The k best passages, the gold file's best one in the last place if it is not among them."""
    hits = reader.search(item.question, k=k + 7, score_sentences=False)
    top = list(hits[:k])
    if not any(holds(hit, item) for hit in top):
        top[k - 1 :] = [hit for hit in hits if holds(hit, item)][:1]
    return top


def holds(hit: Hit, item: Item) -> bool:
    passage = hit.passage
    return hit.document.relative == item.gold and passage.start <= item.answer_start < passage.end


def gold(chosen: Sequence[Item], reader: Reader) -> dict[str, float]:
    tally, attributor = Tally(), Attributor(reader, AttributionOptions())
    for item in chosen:
        hits = shown(item, reader, int(SETTINGS["retrieval.k"].default))
        sources = [
            Source(slot, sentence)
            for slot, hit in enumerate(hits)
            for sentence in hit.passage.sentences
        ]
        tally.add(item, attributor(item.question, item.answers[0], (), sources))
    return tally.rates()


def generated(chosen: Sequence[Item], reader: Reader, model: str | None) -> dict[str, object]:
    names = ("with_attention", "without_attention")
    tallies = {name: (Tally(), Tally()) for name in names}
    options = AttributionOptions()
    attributors = dict(
        zip(
            names,
            (Attributor(reader, o) for o in (options, replace(options, attention=0.0))),
            strict=True,
        )
    )
    generator = open_generator(resolve_model(model).path, threads=None, gpu_layers=None, n_ctx=None)
    settings = settings_from(["sampling.max_tokens=64"])
    with generator, Asker(reader, generator, settings, AskOptions(force=True)) as asker:
        for item in chosen:
            *_, last = asker.ask(item.question, METHODS["plain"])
            assert isinstance(last, Finished)
            answer = last.answer
            text = finished_text("".join(step.text for step in answer.steps), answer.stop)
            right = any(known.casefold() in text.casefold() for known in item.answers)
            for name, attributor in attributors.items():
                sentences = attributor(item.question, text, answer.steps, answer.selected)
                tallies[name][0].add(item, sentences)
                if right:
                    tallies[name][1].add(item, sentences)
    return {
        name: {"all": every.rates(), "answer_holds_gold": good.rates()}
        for name, (every, good) in tallies.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--model", default=None)
    parser.add_argument("--gold-only", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen = items(options.questions, SEED, DEVELOPMENT)
    with xquad_index() as reader:
        result: dict[str, object] = {"gold": gold(chosen, reader)}
        if not options.gold_only:
            result["generated"] = generated(chosen, reader, options.model)
    print(json.dumps(result) if options.json else json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
