"""Answer sentences, filler, refusals, quotations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cite.claims import (
    bare,
    claims,
    false_quotations,
    is_filler,
    is_refusal,
    step_ranges,
    with_question,
)
from ragcli.types import Step


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mira was first. She kept bees.", ["Mira was first.", "She kept bees."]),
        ("Sure! Mira was first.", ["Sure! Mira was first."]),
        ("Based on the documents: Mira was first.", ["Based on the documents: Mira was first."]),
        ("Mira was first. I hope this helps!", ["Mira was first. I hope this helps!"]),
        ("Sure!", ["Sure!"]),
        ("308", ["308"]),
        ("- bees\n- goats", ["- bees", "- goats"]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_claims(text: str, expected: list[str]) -> None:
    assert [span.of(text) for span in claims(text)] == expected


@given(st.text(alphabet="ab .!\nSure", max_size=80))
def test_claims_are_in_order_and_lose_no_letter(text: str) -> None:
    spans = claims(text)
    assert all(a.end <= b.start for a, b in zip(spans, spans[1:], strict=False))  # noqa: RUF007
    covered = "".join(span.of(text) for span in spans)
    assert [c for c in covered if not c.isspace()] == [c for c in text if not c.isspace()]


@pytest.mark.parametrize(
    "text", ["Sure!", "Certainly.", "Here is the answer:", "Based on the text:"]
)
def test_filler(text: str) -> None:
    assert is_filler(text)


@pytest.mark.parametrize(
    "text", ["308", "Yes.", "Sure enough, the valve opened.", "Based on the text, it is 308."]
)
def test_no_filler(text: str) -> None:
    assert not is_filler(text)


@pytest.mark.parametrize(
    "text",
    [
        "The documents do not mention a second keeper.",
        "I don't know the answer.",
        "The provided text doesn't say when she died.",
        "There is no information about Italy.",
        "The answer is not given in the context.",
        "Not mentioned.",
        "I am sorry, but I cannot answer that.",
    ],
)
def test_refusals(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "The valve does not open to the right.",
        "The document was signed in 1905.",
        "She did not know the island.",
        "Nobody was told.",
        "The text says that Dewar worked on liquid oxygen in 1891, but it does not say where.",
    ],
)
def test_no_refusals(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("sentence", "false"),
    [
        ("It says “she kept her bees”.", ()),
        ('It says "she kept her  bees".', ()),
        ("It says “she kept her goats”.", ("she kept her goats",)),
        ("« she kept her goats » est faux.", ("she kept her goats",)),
        ("It says “She kept her bees.”", ("She kept her bees.",)),  # another letter is another text
        ("The “final” one.", ()),  # a word in quotes is no quotation
    ],
)
def test_quotations(sentence: str, false: tuple[str, ...]) -> None:
    known = ["Often she kept  her\nbees.", "And a goat."]
    assert false_quotations(sentence, known) == false


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The document states that the valve is red.", "the valve is red."),
        ("According to the documents, the valve is red.", "the valve is red."),
        ("Document 2 is red.", "Document 2 is red."),
        ("The text says", "The text says"),
    ],
)
def test_leads_are_no_claim(sentence: str, expected: str) -> None:
    assert bare(sentence) == expected


def test_short_answers_are_judged_with_their_question() -> None:
    assert with_question("308", "How many?") == "How many? 308"
    assert with_question("Mira Oskan kept the Sandholm light.", "Who?").startswith("Mira")


def test_step_ranges_start_after_stripped_space() -> None:
    steps = [Step(1, "  M", 0.0, 0.0), Step(2, "ira", 0.0, 0.0), Step(3, "", 0.0, 0.0)]
    assert step_ranges(steps, 2) == [(-2, 1), (1, 4), (4, 4)]
