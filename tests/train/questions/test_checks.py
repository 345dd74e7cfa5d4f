"""What is wrong with a question, by its words; and every reason in words."""

from __future__ import annotations

import pytest

from ragcli.train.questions.checks import FAULTS, REASONS, Draft, fault, normalised

SENTENCE = "Kestrel Bridge was built over the river Omm in 1904 by the engineer Dora Lindqvist."
CASES = [
    ("Who built Kestrel Bridge in 1904?", "Dora Lindqvist", ""),
    ("When was Kestrel Bridge built?", "1904", ""),
    ("In what year was the bridge over the Omm built?", "1904", ""),
    ("Who built Kestrel Bridge in 1904?", "Paul Ferrand", "answer-not-in-source"),
    ("Kestrel Bridge was built in 1904.", "Dora Lindqvist", "no-question"),
    ("Kestrel Bridge was built by an engineer?", "Dora Lindqvist", "no-question"),
    ("Who built it? And Kestrel Bridge when?", "Dora Lindqvist", "no-question"),
    ("", "1904", "no-question"),
    ("Who built?", "Dora Lindqvist", "too-short"),
    (f"When was {'the very old ' * 1}{' '.join(f'stone{n}' for n in range(40))} built?", "1904",
     "too-long"),
    ("Was Kestrel Bridge built in 1904?", "1904", "gives-the-answer"),
    ("Who is the engineer Lindqvist of Kestrel Bridge?", "Dora Lindqvist", "gives-the-answer"),
    ("What did DORA LINDQVIST build in 1904?", "Dora Lindqvist", "gives-the-answer"),
    ("Who built the bridge in this passage?", "Dora Lindqvist", "needs-context"),
    ("According to the text, who built Kestrel Bridge?", "Dora Lindqvist", "needs-context"),
    ("Which engineer built these bridges in 1904?", "Dora Lindqvist", "needs-context"),
    ("When was it built by the engineer?", "1904", "needs-context"),
    ("Who is the engineer who built his bridge?", "Dora Lindqvist", "needs-context"),
    ("When did this happen over the river?", "1904", "needs-context"),
    ("Who is the name of the person?", "Dora Lindqvist", "needs-context"),
    ("Who was the engineer of the Brooklyn Bridge?", "Dora Lindqvist", "invented"),
    ("Who built Kestrel Bridge in 1905?", "Dora Lindqvist", "invented"),
    ("Who built the river over the river built the river over the river?", "Dora Lindqvist",
     "garbled"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answer", "reason"), CASES)
def test_what_is_wrong(question: str, answer: str, reason: str) -> None:
    assert fault(Draft(question, answer, SENTENCE, "Bridges"), ()) == reason


@pytest.mark.parametrize(
    ("question", "answer", "language", "reason"),
    [
        ("Wann wurde die Brücke über die Omm gebaut?", "1904", "de", ""),
        ("Die Brücke über die Omm wurde gebaut", "1904", "de", "no-question"),
        ("Πότε χτίστηκε η γέφυρα του ποταμού;", "1904", "el", ""),
    ],
)
def test_other_languages(question: str, answer: str, language: str, reason: str) -> None:
    source = "1904 wurde die Brücke über die Omm gebaut."
    assert fault(Draft(question, answer, source, "", language), ()) == reason


def test_a_wording_that_the_generator_finds_unlikely() -> None:
    draft = Draft("Who built Kestrel Bridge in 1904?", "Dora Lindqvist", SENTENCE, likelihood=-2.0)
    assert fault(draft, ()) == "garbled"


def test_a_question_is_asked_once() -> None:
    draft = Draft("Who built Kestrel Bridge in 1904?", "Dora Lindqvist", SENTENCE)
    assert fault(draft, {normalised("WHO built the Kestrel-Bridge in 1904 ?")}) == "duplicate"
    assert fault(draft, {normalised("Who built Kestrel Bridge?")}) == ""


def test_a_name_from_the_title_is_not_invented() -> None:
    draft = Draft("Who built the bridge at Harlow?", "Dora Lindqvist", SENTENCE, "Harlow_Mill")
    assert fault(draft, ()) == ""


def test_every_fault_has_words() -> None:
    assert list(REASONS)[: len(FAULTS)] == list(FAULTS)
