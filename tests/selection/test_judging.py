"""Alignment by a generator whose answers are scripted: what its looks ask, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest

from ragcli.selection.aligners import AlignOptions, EncoderAligner
from ragcli.selection.constituents import constituents
from ragcli.selection.judging import GeneratorAligner, Reflection
from ragcli.text.words import keys_of
from ragcli.types import Hit
from tests.selection.passages import LEXICON, hit
from tests.selection.scripted import Scripted, encode

QUESTION = "Which keeper painted the Sandholm light?"
LIGHT = "the Sandholm light"
TRUE = hit(1, "It rained.", "The keeper Mira Oskan painted the Sandholm light.")
OTHER = hit(2, "Ships pass at night.", "The boiler is drained in October.")

Second = Literal["likelihood", "yes"]
Says = Callable[[str, str], float]  # text, what is asked of it → log-odds of yes


def model(says: Says) -> Scripted:
    """Answers yes or no by the text shown and by what is asked of it; writes what it says yes to."""

    def likes(prompt: str, token: str) -> float:
        text, _, ask = prompt.partition("Text: ")[2].partition("\n")
        if token in ("Y", "N"):
            return says(text, ask) * (0.5 if token == "Y" else -0.5)
        return says(text, token)

    return Scripted(likes)


def topic(text: str, ask: str) -> float:
    """As small models do: yes where the text is about the part, whatever is asked of it."""
    part = ask.rpartition("“")[2].partition("”")[0] or ask
    return 2.0 if set(keys_of(text)) & set(keys_of(part)) else -2.0


def aligned(generator: Scripted, *hits: Hit, by: Second | None = "yes") -> list[Hit]:
    inner = EncoderAligner(encode, LEXICON, AlignOptions())
    reflection = Reflection(by) if by else None
    aligner = GeneratorAligner(inner, generator, QUESTION, most=9, reflection=reflection)
    return list(aligner.align(constituents(QUESTION), hits))


def matched(found: Hit) -> set[str]:
    assert found.alignment is not None
    return {one.constituent.text for one in found.alignment.matched}


def dropped(found: Hit) -> set[str]:
    assert found.alignment is not None
    return {one.text for one in found.alignment.dropped}


@pytest.mark.parametrize("by", [None, "likelihood", "yes"])
def test_yes_that_follows_the_topic_keeps_the_passage_that_is_on_it(by: Second | None) -> None:
    true, other = aligned(model(topic), TRUE, OTHER, by=by)
    assert LIGHT in matched(true)
    assert not dropped(true)
    assert not matched(other)


def test_the_second_look_is_at_what_the_first_one_found() -> None:
    def doubtful(text: str, ask: str) -> float:
        wrong = "analysis" in ask and f"matches “{LIGHT}”" in ask
        return -3.0 if wrong else topic(text, ask)

    generator = model(doubtful)
    (true,) = aligned(generator, TRUE)
    assert dropped(true) == {LIGHT}
    assert LIGHT not in matched(true)
    again = [prompt for prompt, _ in generator.asked if "analysis" in prompt]
    assert any("“Sandholm light”" in prompt and TRUE.passage.sentences[1].text in prompt
               for prompt in again)  # fmt: skip


def test_the_second_look_wants_the_part_to_be_likelier_by_the_gain() -> None:
    def sober(text: str, ask: str) -> float:
        return 0.4 * topic(text, ask) if ask.startswith(" ") else topic(text, ask)

    for gain, kept in ((1.5, True), (1.7, False)):  # 0.8 with the text, -0.8 without
        inner = EncoderAligner(encode, LEXICON, AlignOptions())
        reflection = Reflection("likelihood", gain)
        aligner = GeneratorAligner(inner, model(sober), QUESTION, most=9, reflection=reflection)
        (true,) = aligner.align(constituents(QUESTION), [TRUE])
        assert (LIGHT in matched(true)) is kept
        assert (LIGHT in dropped(true)) is not kept


def test_a_part_that_did_not_match_is_not_looked_at_again() -> None:
    generator = model(topic)
    aligned(generator, OTHER)
    assert not [prompt for prompt, _ in generator.asked if "analysis" in prompt]
