"""Whether an answer may stand."""

from __future__ import annotations

import pytest

from ragcli.cite.question import parse_question
from ragcli.cite.support import Shown, adds_something, objection
from ragcli.types import AnswerSentence, Citation, Span, Verdict
from tests.cite.records import ISLAND, sources

KNOWN = ["Mira Oskan was the first keeper of the Sandholm light.", "She kept bees."]


def sentence(text: str, verdict: Verdict = Verdict.SUPPORTED, cited: bool = True) -> AnswerSentence:
    (source,) = sources(KNOWN[0])
    citation = Citation(1, ISLAND, source.sentence, 0.9, verdict)
    return AnswerSentence(Span(0, len(text)), text, (citation,) if cited else (), verdict)


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("Who was the first keeper?", "Mira Oskan.", ""),
        ("Was Mira Oskan a keeper?", "Yes.", ""),
        ("Who was the first keeper?", "The documents do not say who was first.", "found no answer"),
        ("Who was the first keeper?", "Jon Berg was the first keeper.", "Jon"),
        ("Who was the first keeper?", "Mira Oskan, in 1908.", "1908"),
        ("Who was the first keeper?", "Rome.", "Rome"),
        ("What colour is the light?", "The colour of the light is bees.", "colour"),
        ("Who built the light?", "The light was built by Mira Oskan.", "built"),
        ("When was the first keeper there?", "Mira Oskan was the keeper.", "asked for"),
        ("Who was the first keeper?", "The first keeper.", "repeated"),
    ],
)
def test_objections(question: str, answer: str, reason: str) -> None:
    found = objection(parse_question(question), [sentence(answer)], Shown(KNOWN, 1.3))
    assert reason in found
    assert bool(found) == bool(reason)


def test_one_good_sentence_is_enough() -> None:
    question = parse_question("Who was the first keeper?")
    good, bad = sentence("Mira Oskan."), sentence("Jon Berg built it.", Verdict.UNSUPPORTED, False)
    assert objection(question, [bad, good], Shown(KNOWN)) == ""
    assert objection(question, [bad], Shown(KNOWN))
    assert objection(question, [], Shown(KNOWN))


def test_strong_evidence_excuses_a_plain_word_but_no_name() -> None:
    light = parse_question("Who tended the Sandholm light?")
    nordby = parse_question("Who kept the Nordby light?")
    said = [sentence("Mira Oskan tended the Sandholm light.")]
    assert "tended" in objection(light, said, Shown(KNOWN, 1.4))
    assert objection(light, said, Shown(KNOWN, 1.6)) == ""
    said = [sentence("Mira Oskan kept the Nordby light.")]
    assert "Nordby" in objection(nordby, said, Shown(KNOWN, 1.6))


def test_an_answer_must_rest_where_the_evidence_is() -> None:
    question = parse_question("Who was the first keeper?")
    said = [sentence("Mira Oskan.")]
    assert "rests on" in objection(question, said, Shown(KNOWN, 1.6, 0.7))
    assert objection(question, said, Shown(KNOWN, 1.6, 0.8)) == ""


@pytest.mark.parametrize(
    ("answer", "adds"),
    [
        ("Alder.", True),
        ("Alder was formed first.", True),
        ("Alder or Birch.", False),
        ("The band formed first, Alder or Birch.", False),
        ("It was.", False),
    ],
)
def test_to_a_choice_one_of_its_names_is_an_answer(answer: str, adds: bool) -> None:
    question = parse_question("Which band was formed first, Alder or Birch?")
    assert adds_something(question, answer) is adds


def test_an_acronym_that_a_source_spells_out_is_held() -> None:
    question = parse_question("Who was CEO of Sandholm?")
    said = [sentence("Mira Oskan was CEO.")]
    assert "CEO" in objection(question, said, Shown(KNOWN, 1.6))
    known = [*KNOWN, "Its chief executive officer was Mira Oskan."]
    assert objection(question, said, Shown(known, 1.6)) == ""


def test_an_answer_about_another_one_does_not_stand() -> None:
    texts = ["Pump A gives 4.2 bar.", "Pump B gives 7.1 bar."]
    (source,) = sources(texts[1])
    citation = Citation(1, ISLAND, source.sentence, 0.9, Verdict.SUPPORTED)
    said = AnswerSentence(Span(0, 8), "7.1 bar.", (citation,), Verdict.SUPPORTED)
    asked = [parse_question(f"What does Pump {letter} give?") for letter in "ABC"]
    reasons = [objection(question, [said], Shown(texts)) for question in asked]
    assert "not speak of “Pump A”" in reasons[0]
    assert reasons[1] == ""
    assert "say nothing of “Pump C”" in reasons[2]
