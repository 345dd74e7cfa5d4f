"""Which arms are asked what, in which order, and what is kept; a scripted generator answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import ModelError
from ragcli.evaluate.arms import parse_arms
from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.plan import Plan, assignments, prompt_versions
from ragcli.evaluate.runner import Bench, Done
from ragcli.evaluate.store import Store, read_answers, read_rows
from tests.methods.fakes import FakeGenerator

Open = Callable[[], Any]


@pytest.fixture
def generator() -> FakeGenerator:
    return FakeGenerator("Mira Oskan")


@pytest.fixture
def bench(small: Corpus, generator: FakeGenerator, tmp_path: Path) -> Open:
    @contextmanager
    def open_bench() -> Iterator[Bench]:
        with Store(tmp_path / "out") as store:
            opened = Bench(small, generator, store, describe=lambda answer: {"text": answer.text})
            yield opened
            opened.close()

    return open_bench


def plan_of(corpus: Corpus, arms: str, *given: str) -> Plan:
    return Plan(corpus.dataset.questions, parse_arms(arms), assignments("short", given))


def by_arm(done: list[Done], question: str) -> dict[str, dict[str, Any]]:
    return {one.arm.name: one.row for one in done if one.question.id == question and one.row}


def test_questions_outermost_and_a_row_an_arm(small: Corpus, bench: Open, tmp_path: Path) -> None:
    with bench() as opened:
        done = list(opened.run(plan_of(small, "closed-book,plain")))
    assert [one.index for one in done] == [0, 0, 1, 1, 2, 2]
    rows = by_arm(done, "keeper")
    assert rows["plain"]["answer"] == "Mira Oskan"
    assert rows["plain"]["scores"]["em"] == 1.0
    assert rows["plain"]["scores"]["knowledge_recall"] == 1.0
    assert rows["closed-book"]["scores"]["knowledge_tokens"] == 0.0
    assert by_arm(done, "limit")["plain"]["scores"]["em"] == 0.0
    assert len(list(read_rows(tmp_path / "out"))) == 6
    assert {one["text"] for one in read_answers(tmp_path / "out").values()} == {"Mira Oskan"}


def test_answers_are_forced_and_what_ask_would_do_is_recorded(small: Corpus, bench: Open) -> None:
    plan = plan_of(small, "plain")
    with bench() as opened:
        forced = by_arm(list(opened.run(plan)), "limit")["plain"]
        free = by_arm(list(opened.run(replace(plan, force=False))), "limit")["plain"]
    assert forced["answer"] == "Mira Oskan"
    assert forced["objection"]
    assert forced["scores"]["abstention"] == 1.0
    assert free["answer"] != "Mira Oskan"


def test_known_bounds_read_what_they_say(
    small: Corpus, bench: Open, generator: FakeGenerator
) -> None:
    with bench() as opened:
        done = list(opened.run(plan_of(small, "gold,full,verbatim")))
    gold, full, verbatim = (by_arm(done, "keeper")[name] for name in ("gold", "full", "verbatim"))
    assert gold["selected"] == gold["gold"]
    assert gold["scores"]["knowledge_f1"] == 1.0
    assert len(full["selected"]) == 4
    assert full["scores"]["knowledge_precision"] == 0.25
    assert verbatim["answer"].startswith("Mira Oskan was the first keeper")
    assert verbatim["scores"]["generated_tokens"] == 0
    shown = [prompt for prompt in generator.prompts if "first keeper of" in prompt]
    assert any("boiler" not in prompt for prompt in shown)


def test_nothing_is_made_twice_unless_asked(
    small: Corpus, bench: Open, generator: FakeGenerator, tmp_path: Path
) -> None:
    plan = plan_of(small, "plain,fke")
    with bench() as opened:
        assert opened.missing(plan) == {"plain": 3, "fke": 3}
        first = list(opened.run(plan))
    prompts, text = len(generator.prompts), (tmp_path / "out" / "rows.jsonl").read_bytes()
    with bench() as opened:
        assert opened.missing(plan) == {"plain": 0, "fke": 0}
        second = list(opened.run(plan))
    assert all(one.known for one in second)
    assert [one.row for one in second] == [one.row for one in first]
    assert len(generator.prompts) == prompts
    assert (tmp_path / "out" / "rows.jsonl").read_bytes() == text
    with bench() as opened:
        assert not any(one.known for one in opened.run(plan, again=True))


@pytest.mark.parametrize(
    "damage",
    [
        {"scores": {}},
        {"scores": None},
        {"scores": {"seconds": "x"}},
        {"scores": {"seconds": float("nan")}},
        {"answer": 3},
    ],
)
def test_a_kept_row_that_is_damaged_is_made_anew(
    damage: dict[str, Any], small: Corpus, bench: Open, tmp_path: Path
) -> None:
    plan = plan_of(small, "plain")
    with bench() as opened:
        first = list(opened.run(plan))
    file = tmp_path / "out" / "rows.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    file.write_text("".join(json.dumps(row) + "\n" for row in [{**rows[0], **damage}, *rows[1:]]))
    with bench() as opened:
        assert opened.missing(plan) == {"plain": 1}
        assert opened.estimate(plan, opened.missing(plan)).total > 0
        second = list(opened.run(plan))
    assert sorted(one.known for one in second) == [False, True, True]
    assert [one.row["answer"] for one in second if one.row] == [
        one.row["answer"] for one in first if one.row
    ]


def test_only_what_a_setting_changes_is_made_anew(small: Corpus, bench: Open) -> None:
    with bench() as opened:
        list(opened.run(plan_of(small, "plain,fke")))
        assert opened.missing(plan_of(small, "plain,fke", "fke.alpha=2")) == {"plain": 0, "fke": 3}
        assert opened.missing(plan_of(small, "plain", "retrieval.k=1")) == {"plain": 3}
        assert opened.missing(plan_of(small, "plain+retrieval.k=3")) == {"plain+retrieval.k=3": 0}
        sentence = replace(plan_of(small, "plain"), assignments=assignments("sentence"))
        assert opened.missing(sentence) == {"plain": 3}


def test_a_run_is_stopped_between_questions(small: Corpus, bench: Open) -> None:
    asked: list[float] = []

    def stop(last: float) -> bool:
        asked.append(last)
        return len(asked) == 3

    with bench() as opened:
        done = list(opened.run(plan_of(small, "plain,closed-book"), stop=stop))
    assert [one.index for one in done] == [0, 0, 1, 1]
    assert asked[0] == 0.0
    assert all(last > 0 for last in asked[1:])


def test_an_error_says_where(
    small: Corpus, bench: Open, generator: FakeGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ModelError("no memory")

    with bench() as opened:
        plan = plan_of(small, "plain")
        monkeypatch.setattr(generator, "session", refuse)
        with pytest.raises(ModelError, match="plain, question keeper: no memory"):
            list(opened.run(plan))


def test_the_cost_is_reckoned_then_known(small: Corpus, bench: Open) -> None:
    plan = plan_of(small, "plain,closed-book,verbatim")
    with bench() as opened:
        before = opened.estimate(plan, opened.missing(plan))
        assert before.seconds["plain"] > before.seconds["closed-book"]
        assert before.total > 0
        done = list(opened.run(plan))
        after = opened.estimate(plan, opened.missing(plan))
    assert (after.total, after.known) == (0, {"plain", "closed-book", "verbatim"})
    seconds = [one.row["scores"]["seconds"] for one in done if one.row and one.arm.name == "plain"]
    assert after.seconds["plain"] == pytest.approx(sum(seconds) / 3)


def test_every_prompt_has_a_version() -> None:
    versions = prompt_versions()
    assert versions["answer"] == ["answer-1", "answer-short-1"]
    assert all(versions.values())
