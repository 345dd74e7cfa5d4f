"""Which layer's attention points at the sentence that holds the answer?

usage: tap_layers.py MODEL.gguf [--questions 40] [--threads 1]

SQuAD-like questions (xquad) over three paragraphs, one of which holds the answer. The model
reads the prompt and then the reference answer, token by token; for each layer the attention
of the predicting positions is summed a sentence. Printed: how often the gold sentence comes
first, and its mean reciprocal rank, by the sum and by the mean over the sentence's tokens;
then the same for averages of several layers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.backend import Batch, Status
from ragcli.llm.base import NOWHERE, EncodedPrompt, PromptPiece
from ragcli.llm.context import Context, ContextOptions
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator
from ragcli.llm.tap import Tap
from ragcli.types import Sentence, Source

DATA = Path(os.environ.get("RAGCLI_DATA", Path(__file__).resolve().parents[3] / "shared")) / "data"


SETS = [(0.6, 0.7), (0.6, 0.65, 0.7), (0.55, 0.6, 0.65, 0.7, 0.75), (0.6, 0.75), (0.6, 0.7, 0.8)]


def layers_at(depths: tuple[float, ...], n_layer: int) -> tuple[int, ...]:
    """Layer numbers at fractions of the model's depth."""
    return tuple(int(depth * n_layer) for depth in depths)


def questions(n: int) -> Iterator[tuple[str, str, list[str], int]]:
    """(question, answer, sentences, index of the gold one)."""
    rows = [json.loads(line) for line in (DATA / "qa/xquad_en_dev.jsonl").open(encoding="utf-8")]
    lines = (DATA / "corpus/xquad_en.jsonl").open(encoding="utf-8")
    corpus = [json.loads(line) for line in lines]
    texts = {str(row["_id"]): row["text"] for row in corpus}
    order = list(texts)
    for row in rows[:: max(1, len(rows) // n)][:n]:
        gold_id = str(row["gold"][0])
        place = order.index(gold_id)
        ids = [order[(place + 7) % len(order)], gold_id, order[(place + 19) % len(order)]]
        sentences, gold = [], -1
        for identifier in ids:
            for match in re.finditer(
                r"\S.*?(?:[.?!](?=\s+[A-Z0-9\"“])|$)", texts[identifier], re.S
            ):
                if identifier == gold_id and match.start() <= row["answer_start"] < match.end():
                    gold = len(sentences)
                sentences.append(" ".join(match.group().split()))
        if gold >= 0:
            yield row["question"], row["answers"][0], sentences, gold


def prompt_of(generator: LlamaGenerator, question: str, sentences: list[str]) -> EncodedPrompt:
    pieces = [PromptPiece("Answer the question from these facts, in a few words.\n\n")]
    for number, text in enumerate(sentences):
        sentence = Sentence(number, 1, 1, 0, len(text), text, None, 1)
        pieces += [PromptPiece(text, source=Source(0, sentence)), PromptPiece(" ")]
    return generator.chat("", [*pieces, PromptPiece(f"\n\nQuestion: {question}")])


class LayerTap(Tap):
    """Keeps the layers apart. by_layer: layer to {token of the batch: (n_kv,)}."""

    def arm(self, wanted: NDArray[np.intp]) -> None:
        super().arm(wanted)
        self.by_layer: dict[int, dict[int, NDArray[np.float32]]] = {}

    def _read_softmax(self, tensor: int) -> None:
        self._sums = {}
        super()._read_softmax(tensor)
        self.by_layer[len(self.by_layer)] = self._sums


def masses(context: Context, prompt: EncodedPrompt, answer: list[int]) -> NDArray[np.float64]:
    """(layers, sentences) attention of the positions that predict the answer, per sentence."""
    tap = context._tap
    assert isinstance(tap, LayerTap)
    context.clear()
    tokens = np.concatenate([prompt.tokens, np.array(answer[:-1], np.int32)])
    place = np.empty(len(tokens), np.int64)
    total = 0.0
    for start in range(0, len(tokens), context.n_batch):
        part = tokens[start : start + context.n_batch]
        positions = np.arange(start, start + len(part), dtype=np.int32)
        wanted = positions >= len(prompt) - 1
        batch = Batch(part, positions, ((0,),) * len(part), wanted)
        assert context.decode(batch) is Status.OK, context.reason()
        place[positions] = tap.cells
        for index in np.flatnonzero(wanted).tolist():
            rows = np.array([tap.by_layer[layer][index] for layer in sorted(tap.by_layer)])
            total = total + rows[:, place[: len(prompt)]]
    owned = prompt.owner != NOWHERE
    count = len(prompt.sources)
    return np.array([np.bincount(prompt.owner[owned], row[owned], count) for row in total])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    ranks = []
    with open_generator(arguments.model, threads=arguments.threads) as generator:
        tap = LayerTap(tuple(range(generator._model.n_layer)))
        context = Context(generator._model, 4096, 1, ContextOptions(arguments.threads), tap=tap)
        for question, answer, sentences, gold in questions(arguments.questions):
            prompt = prompt_of(generator, question, sentences)
            sums = masses(context, prompt, generator.vocabulary.tokenize(" " + answer))
            sets = [sums[list(layers_at(at, len(sums)))].mean(axis=0) for at in SETS]
            sums = np.concatenate([sums, sets])
            means = sums / np.bincount(prompt.owner[prompt.owner >= 0], minlength=sums.shape[1])
            ranks.append([(x > x[:, [gold]]).sum(axis=1) + 1 for x in (sums, means)])
        context.close()
    table = np.array(ranks)  # (questions, 2, layers)
    first, reciprocal = (table == 1).mean(axis=0), (1 / table).mean(axis=0)
    print(f"{len(table)} questions")
    print("layers           first(sum)  mrr(sum)  first(mean)  mrr(mean)")
    names = [str(layer) for layer in range(len(sums) - len(SETS))]
    names += [", ".join(map(str, layers_at(at, len(names)))) for at in SETS]
    for line, name in enumerate(names):
        columns = first[0], reciprocal[0], first[1], reciprocal[1]
        print(f"{name:15}  " + "  ".join(f"{column[line]:10.2f}" for column in columns))


if __name__ == "__main__":
    main()
