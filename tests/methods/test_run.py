"""The engine: order of events, abstention, citations, batches. No model."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from ragcli.errors import UsageError
from ragcli.events import Cited, Event, Finished, Retrieved, Selected, Token, Warned
from ragcli.methods.registry import METHODS, settings_from
from ragcli.methods.run import Asker, AskOptions
from ragcli.methods.stages import Method
from ragcli.types import Answer, Hit
from tests.methods.fakes import FakeGenerator, FakeReader, hit

KEEPER = hit(1, "Mira Oskan was the first keeper of the light.", "She kept bees.")
SHIPS = hit(2, "Ships pass the island at night.")
STONE = hit(3, "The tower is built of stone.")
ROCK = hit(4, "The rock is bare.")
QUESTION = "Who was the first keeper?"
SAYS = "The first keeper was Mira Oskan."


def run(
    generator: FakeGenerator,
    reader: FakeReader,
    *,
    question: str = QUESTION,
    method: Method = METHODS["plain"],
    assignments: tuple[str, ...] = (),
    **options: Any,
) -> list[Event]:
    settings = settings_from(assignments)
    with Asker(cast(Any, reader), generator, settings, AskOptions(**options)) as asker:
        return list(asker.ask(question, method))


def finished(events: list[Event]) -> Answer:
    assert isinstance(events[-1], Finished)
    return events[-1].answer


def test_order_of_events_and_the_answer() -> None:
    events = run(FakeGenerator(SAYS), FakeReader(KEEPER, SHIPS))
    kinds = [type(event) for event in events]
    assert kinds == [Retrieved, Selected, *[Token] * 6, Cited, Finished]
    answer = finished(events)
    assert answer.text == SAYS
    assert [c.sentence.id for s in answer.sentences for c in s.citations] == [100]
    assert (answer.abstained, answer.reason, answer.stop) == (False, "", "end")
    assert {"retrieve", "check", "select", "first_token", "generate", "cite"} <= set(answer.timings)


def test_provenance_is_json_and_names_what_was_shown() -> None:
    answer = finished(run(FakeGenerator(SAYS), FakeReader(KEEPER, SHIPS, STONE, ROCK)))
    record = json.loads(json.dumps(answer.provenance))
    assert [d["sha256"][0] for d in record["documents"]] == ["1", "2", "3"]
    assert record["model"]["sha256"] == "f" * 64
    assert record["verifier"] == "lexical"
    assert record["prompt"].startswith("answer-")
    assert record["options"]["retrieval.k"] == 3
    assert record["selected_by"] == "passages by rank"


@pytest.mark.parametrize("hits", [(), (SHIPS,)])
def test_abstains_before_generating(hits: tuple[Hit, ...]) -> None:
    generator = FakeGenerator(SAYS)
    answer = finished(run(generator, FakeReader(*hits)))
    assert answer.abstained
    assert answer.reason
    assert (answer.text, answer.sentences, generator.starts) == ("", (), [])


WRONG = [
    ("The documents do not say who was first.", "found no answer"),
    ("Mira Oskan was the first keeper of the light in 1908.", "1908"),
    ("Rome.", "no sentence"),
    ("Bread is made of flour and water.", "no sentence"),
    ("", "no answer"),
]


@pytest.mark.parametrize(("script", "reason"), WRONG)
def test_under_strong_evidence_the_source_is_quoted_instead(script: str, reason: str) -> None:
    events = run(FakeGenerator(script), FakeReader(KEEPER))
    answer = finished(events)
    assert not answer.abstained
    assert answer.text == "Mira Oskan was the first keeper of the light."
    assert [c.sentence.text for s in answer.sentences for c in s.citations] == [answer.text]
    assert answer.steps == ()  # the tokens were those of the answer set aside
    assert any("quoted instead" in warning and reason in warning for warning in answer.warnings)


@pytest.mark.parametrize(("script", "reason"), WRONG)
def test_abstains_after_generating(
    script: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragcli.methods.quoting.STRONG", 2.1)  # no evidence is that strong
    events = run(FakeGenerator(script), FakeReader(KEEPER))
    answer = finished(events)
    assert answer.abstained
    assert reason in answer.reason
    assert not answer.sentences
    assert not any(isinstance(event, Cited) for event in events)


def test_force_answers_with_a_warning() -> None:
    events = run(FakeGenerator(SAYS), FakeReader(SHIPS), force=True)
    answer = finished(events)
    assert not answer.abstained
    assert answer.text == SAYS
    assert any("evidence is thin" in e.message for e in events if isinstance(e, Warned))


def test_a_batch_keeps_its_session() -> None:
    generator, reader = FakeGenerator(SAYS), FakeReader(KEEPER)
    with Asker(cast(Any, reader), generator, settings_from()) as asker:
        answers = [finished(list(asker.ask(QUESTION, METHODS["plain"]))) for _ in range(3)]
    assert {answer.text for answer in answers} == {SAYS}
    assert (generator.sessions, generator.closed, len(generator.starts)) == (1, 1, 3)


@pytest.mark.parametrize(
    ("decode", "branches"), [("plain", 1), ("fke", 2), ("drag", 2), ("drag-all", 2), ("cad", 2)]
)
def test_every_decoder_gets_its_branches(decode: str, branches: int) -> None:
    generator = FakeGenerator(SAYS)
    method = METHODS["fke"] if decode == "fke" else METHODS["plain"]
    answer = finished(
        run(generator, FakeReader(KEEPER, SHIPS, STONE, ROCK), method=method, decode=decode)
    )
    assert answer.text == SAYS
    assert generator.starts == [branches]
    assert answer.provenance["decode"] == decode


def test_the_noise_passage_is_not_among_the_documents() -> None:
    generator = FakeGenerator(SAYS)
    reader = FakeReader(KEEPER, SHIPS, STONE, ROCK)
    run(generator, reader, method=METHODS["drag"], assignments=("drag.r=3",))
    main, noise = generator.prompts
    assert "bare" not in main
    assert "bare" in noise
    assert "Mira" not in noise


def test_without_a_passage_left_over_calibration_is_off_and_said() -> None:
    generator = FakeGenerator(SAYS)
    answer = finished(run(generator, FakeReader(KEEPER), method=METHODS["drag"]))
    assert generator.starts == [1]
    assert any("calibration is off" in warning for warning in answer.warnings)


def test_closed_book_retrieves_and_cites_nothing() -> None:
    reader = FakeReader(KEEPER)
    answer = finished(run(FakeGenerator(SAYS), reader, method=METHODS["closed-book"]))
    assert (answer.text, answer.sentences, answer.abstained) == (SAYS, (), False)
    assert reader.queries == []


def test_closed_book_has_no_second_branch() -> None:
    with pytest.raises(UsageError):
        run(FakeGenerator(SAYS), FakeReader(), method=METHODS["closed-book"], decode="fke")


def test_refine_retrieves_again_until_it_is_content() -> None:
    asked: list[str] = []

    def refine(question: str, hits: Any, tools: Any) -> str | None:
        asked.append(question)
        return "keeper light" if len(asked) < 2 else None

    reader = FakeReader(KEEPER)
    run(FakeGenerator(SAYS), reader, method=replace(METHODS["plain"], refine=refine))
    assert reader.queries == [QUESTION, QUESTION, "keeper light"]


def test_refine_is_bounded() -> None:
    reader = FakeReader(KEEPER)
    method = replace(METHODS["plain"], refine=lambda question, hits, tools: "more", rounds=2)
    run(FakeGenerator(SAYS), reader, method=method)
    assert len(reader.queries) == 1 + 2 + 3


def test_a_changed_file_is_said() -> None:
    answer = finished(run(FakeGenerator(SAYS), FakeReader(KEEPER, stale=[1])))
    assert any("is gone since it was indexed" in warning for warning in answer.warnings)


def test_long_contexts_lose_their_last_sentences() -> None:
    long = hit(2, *[f"Ships number {n} pass the island at night." for n in range(60)])
    events = run(
        FakeGenerator(SAYS, n_ctx_train=300), FakeReader(KEEPER, long),
        assignments=("sampling.max_tokens=50",),
    )  # fmt: skip
    answer = finished(events)
    assert [source.sentence.id for source in answer.selected[:3]] == [100, 101, 200]
    assert 3 < len(answer.selected) < 62
    assert any("left out" in warning for warning in answer.warnings)


def test_interrupted_answers_keep_what_there_is() -> None:
    generator, reader = FakeGenerator(SAYS), FakeReader(KEEPER)
    seen: list[Event] = []
    with Asker(cast(Any, reader), generator, settings_from()) as asker:
        for event in asker.ask(
            QUESTION, METHODS["plain"], lambda: sum(isinstance(e, Token) for e in seen) >= 2
        ):
            seen.append(event)
    answer = finished(seen)
    assert answer.stop == "interrupted"
    assert SAYS.startswith(answer.text)
