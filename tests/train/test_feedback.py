"""The generator's feedback: prompts, memory, what a kill leaves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli.errors import UsageError
from ragcli.llm.base import EncodedPrompt, Tokens
from ragcli.train.examples import Candidate
from ragcli.train.feedback import AT_ONCE, Asked, Feedback, layout
from tests.methods.fakes import FakeGenerator

KEEPER = Candidate("Mira kept the light.", "Sandholm")
BEES = Candidate("She kept bees.", "Sandholm")
TOWER = Candidate("The tower is of stone.", "Tower")
WHO = "Who kept the light?"


class Believing(FakeGenerator):
    """Finds an answer as likely as many words of it stand in the prompt; counts prompts."""

    def __init__(self) -> None:
        super().__init__("")
        self.asked = 0

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        self.asked += len(prompts)
        found = [
            sum(int(token) in prompt.tokens for token in tokens) - len(tokens)
            for prompt, tokens in zip(prompts, continuations, strict=True)
        ]
        return np.array(found, np.float64)


def test_what_holds_the_answer_makes_it_likelier() -> None:
    feedback = Feedback(Believing())
    orders = ((), (KEEPER,), (TOWER,))
    assert feedback.scores([Asked(WHO, "Mira", order) for order in orders]) == [-1, 0, -1]


def test_prompts_are_those_of_ask() -> None:
    generator = Believing()
    Feedback(generator).scores([Asked(WHO, "Mira", (KEEPER, BEES, TOWER, KEEPER)), Asked(WHO, "M")])
    shown, empty = generator.prompts
    order = ["Document 1: Sandholm", "Mira kept", "She kept bees", "Document 2: Tower", "stone",
             "Document 3: Sandholm", "Mira kept", f"Question: {WHO}"]  # fmt: skip
    at = 0
    for piece in order:
        at = shown.index(piece, at) + 1
    assert "Document" not in empty
    assert f"Question: {WHO}" in empty


def test_layout() -> None:
    headings, sources = layout((KEEPER, TOWER, BEES))
    assert headings == ["Sandholm", "Tower", "Sandholm"]
    assert [(one.document_slot, one.sentence.text) for one in sources] == [
        (0, KEEPER.text), (1, TOWER.text), (2, BEES.text),
    ]  # fmt: skip


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "feedback.jsonl"
    asked = [Asked(WHO, "Mira", (Candidate(f"Sentence {n}."),)) for n in range(AT_ONCE + 5)]
    first = Believing()
    feedback = Feedback(first, file)
    assert feedback.cost(asked).seconds is None
    ticks: list[tuple[int, int]] = []
    scores = feedback.scores([*asked, asked[0]], lambda *tick: ticks.append(tick))
    assert first.asked == len(asked)
    assert ticks == [(0, len(asked)), (AT_ONCE, len(asked))]
    assert feedback.pace > 0
    second = Believing()
    again = Feedback(second, file)
    assert again.cost(asked).prompts == 0
    assert again.scores([*asked, asked[0]]) == scores
    assert second.asked == 0
    assert len(file.read_text().splitlines()) == len(asked)
    assert file.stat().st_size / len(asked) < 60


def test_another_order_answer_or_question_is_asked() -> None:
    generator = Believing()
    feedback = Feedback(generator)
    one = Asked(WHO, "Mira", (KEEPER, BEES))
    others = [
        one, Asked(WHO, "Mira", (BEES, KEEPER)), Asked(WHO, "mira", (KEEPER, BEES)),
        Asked("Who?", "Mira", (KEEPER, BEES)), Asked(WHO, "Mira", (KEEPER,)),
    ]  # fmt: skip
    feedback.scores(others)
    assert generator.asked == len(others)


def test_a_line_that_was_cut_off_is_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "feedback.jsonl"
    asked = [Asked(WHO, "Mira", (one,)) for one in (KEEPER, TOWER)]
    Feedback(Believing(), file).scores(asked)
    file.write_bytes(file.read_bytes()[:-7])
    generator = Believing()
    assert Feedback(generator, file).scores(asked) == [0, -1]
    assert generator.asked == 1
    assert len(file.read_text().splitlines()) == 2


@pytest.mark.parametrize("content", ["hello\n", "{}\n", "[1]\n", '{"key": 1, "logp": null}\n'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(content)
    with pytest.raises(UsageError, match="line 1: not feedback"):
        Feedback(Believing(), file)
    assert file.read_text() == content


@pytest.mark.model
def test_the_bundled_model_prefers_the_sentence_that_says_it(bundled_model: Path) -> None:
    from ragcli.llm.llama import open_generator

    with open_generator(bundled_model, threads=1, n_ctx=None, gpu_layers=0) as generator:  # type: ignore[attr-defined]
        feedback = Feedback(generator)
        none, right, wrong = feedback.scores(
            [Asked(WHO, "Mira", order) for order in ((), (KEEPER,), (TOWER,))]
        )
    assert right > max(none, wrong) + 1
