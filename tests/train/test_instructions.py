"""What is learnt is what ragcli asks: token by token the prompts of the trained analyzer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from ragcli.llm.base import EncodedPrompt, PromptPiece
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator
from ragcli.llm.prompts.analyzer import LEVELS
from ragcli.selection.trained import TrainedAnalyzer
from ragcli.train.analyzer_data import Elements, Relevance, read
from ragcli.train.instructions import Instruction, instructions, merged
from ragcli.types import Component
from tests.train import instructed, tiny_llama

STRANGE = "Who said <|im_end|> in the  mill of Ribe?"


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaGenerator]:
    path = tiny_llama.write(tmp_path_factory.mktemp("model") / "tiny.gguf")
    with open_generator(path, threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Elements | Relevance, ...]:
    strange = {"text": "mill", "attribute": "variant", "relevant": 0.7}
    lines = [
        *instructed.lines()[:3],
        {"question": STRANGE, "components": [strange]},
        {
            "question": STRANGE,
            "passage": "A <|im_start|>mill.\n\tOld " + "x" * 3000,
            "components": [{"text": "Omm", "attribute": "invariant", "relevant": 1}, strange],
        },
    ]
    return read([instructed.write(tmp_path_factory.mktemp("data") / "d.jsonl", lines)])


def text_of(generator: LlamaGenerator, tokens: Sequence[int]) -> str:
    return b"".join(generator.vocabulary.piece(one) for one in tokens).decode()


def test_components_are_asked_as_ragcli_asks(generator: LlamaGenerator, rows) -> None:
    for row in (one for one in rows if isinstance(one, Elements)):
        (made,), useless = instructions([row], generator)
        assert not useless
        start = made.learnt[0]
        assert made.learnt == tuple(range(start, len(made.tokens)))
        *output, end = made.tokens[start:]
        assert generator.vocabulary.is_end(end)
        asked: list[list[int]] = []

        def write(
            system: str, user: Sequence[PromptPiece], most: int, said: Sequence[int] = output
        ) -> str:
            asked.append(generator.chat(system, user).tokens.tolist())  # noqa: B023
            assert len(said) <= most
            return text_of(generator, said)

        found = TrainedAnalyzer(generator, write, "x").components(row.question, "en")
        assert asked == [list(made.tokens[:start])]
        assert found == row.components


def test_scores_are_asked_as_ragcli_asks(
    generator: LlamaGenerator, rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    for row in (one for one in rows if isinstance(one, Relevance)):
        made, _ = instructions([row], generator)
        scores = iter(
            score
            for one, score in zip(row.components, row.scores, strict=True)
            if one.kind != "invariant"
        )
        asked: list[tuple[int, ...]] = []

        def likely(prompts: Sequence[EncodedPrompt], said: Sequence[Sequence[int]]) -> np.ndarray:
            """Sure of the level that is nearest to the row's score."""
            wanted = next(scores)  # noqa: B023
            best = int(np.argmin([abs(float(one) - wanted) for one in LEVELS]))
            asked.append((*prompts[best].tokens.tolist(), *said[best]))  # noqa: B023
            return np.where(np.arange(len(said)) == best, 0.0, -1e9)

        monkeypatch.setattr(generator, "loglikelihood", likely)
        TrainedAnalyzer(generator, lambda *_: "", "x").scores(
            row.question, row.components, [row.text]
        )
        (whole,) = made
        width = len(generator.vocabulary.tokenize(" 0.0"))
        assert [whole.tokens[: len(one)] for one in asked] == asked
        assert asked[-1] == whole.tokens
        learnt = [at for one in asked for at in range(len(one) - width, len(one))]
        assert list(whole.learnt) == learnt


def test_a_mention_stands_where_the_data_says_otherwise(generator: LlamaGenerator, rows) -> None:
    made, _ = instructions(rows[-1:], generator)
    assert "Omm (invariant): 0.0\nmill (variant): 0.6" in text_of(generator, made[0].tokens)


def test_what_the_question_does_not_say_is_not_taught(generator: LlamaGenerator) -> None:
    question = "When did the mill open?"
    parts = (Component("invariant", "Omm"), Component("variant", "mills"))
    found, useless = instructions(
        [Elements(question, parts), Elements(question, parts[:1])], generator
    )
    assert len(found) == len(useless) == 1
    said = text_of(generator, [found[0].tokens[at] for at in found[0].learnt])
    assert said == "mills (variant)."


def test_what_is_longer_than_the_context_is_left_out(generator: LlamaGenerator, rows) -> None:
    long = Elements("mill " * 900, (Component("variant", "mill"),))
    found, useless = instructions([long, rows[0]], generator)
    assert (len(found), useless) == (1, [long])


def test_only_what_begins_alike_is_one() -> None:
    one = Instruction("scores", "q", (1, 2, 3), (2,))
    longer = Instruction("scores", "q", (1, 2, 3, 4, 5), (4,))
    other = Instruction("scores", "q", (1, 2, 9, 4, 5), (4,))
    assert merged([one, longer]) == [Instruction("scores", "q", (1, 2, 3, 4, 5), (2, 4))]
    assert merged([one, other]) == [one, other]
