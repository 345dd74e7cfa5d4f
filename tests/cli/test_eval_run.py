"""`ragcli eval run` with the bundled models, on three questions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.evaluate.data import write

from .harness import invoke, process

pytestmark = pytest.mark.model

QUICK = ("--max-tokens", "6", "--ctx", "1024", "--threads", "1")  # two wait for each other


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "small.jsonl")


def run(data: Path, *arguments: str) -> list[str]:
    out = str(data.parent / "out")
    return ["eval", "run", "--data", str(data), "--out", out, *QUICK, *arguments]


def rows(data: Path) -> list[dict[str, object]]:
    text = (data.parent / "out" / "rows.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_methods_are_compared(data: Path) -> None:
    arms = ["plain", "fke", "drag", "gold", "verbatim", "closed-book"]
    done = invoke(*run(data, "--methods", ",".join(arms), "--limit", "2", "--json"))
    assert done.code == 0, done.err
    document = done.json("eval@1")
    assert "12 answers to make: about" in done.err
    assert [one["name"] for one in document["arms"]] == arms
    assert {one["questions"] for one in document["arms"]} == {2}
    scores = {one["name"]: one["metrics"] for one in document["arms"]}
    assert scores["gold"]["knowledge_f1"]["mean"] == 1.0
    assert scores["verbatim"]["contains"]["mean"] == 1.0
    assert scores["verbatim"]["citation_recall"]["mean"] == 1.0
    assert scores["plain"]["prompt_tokens"]["mean"] > scores["closed-book"]["prompt_tokens"]["mean"]
    assert scores["fke"]["prompt_tokens"]["mean"] > scores["plain"]["prompt_tokens"]["mean"]
    assert document["arms"][0]["against_first"] == {}
    assert document["arms"][3]["against_first"]["em"]["n"] == 2
    assert len(rows(data)) == len(document["rows"]) == 12

    again = invoke(*run(data, "--methods", "drag,plain", "--limit", "2"))
    assert again.code == 0
    assert "all 4 answers are there already" in again.err
    assert again.out.splitlines()[0].split()[:4] == ["n", "EM", "F1", "contains"]
    assert [line.split()[0] for line in again.out.splitlines()[1:3]] == ["drag", "plain"]
    assert len(rows(data)) == 12


def test_a_killed_run_goes_on_where_it_was(data: Path) -> None:
    arguments = run(data, "--methods", "plain,sentences,verbatim", "--json")
    file = data.parent / "out" / "rows.jsonl"
    running = subprocess.Popen(
        [sys.executable, "-m", "ragcli", *arguments],
        env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 200
        while not (file.is_file() and file.read_bytes().count(b"\n") >= 2):
            assert time.monotonic() < deadline, "no row was written"
            assert running.poll() is None or file.is_file()
            time.sleep(0.01)
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    kept = file.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    file.write_bytes(kept + b'{"key": "torn')  # as a kill in the middle of a line leaves it

    done = process(arguments, cwd=data.parent)
    assert done.code == 0, done.err
    assert file.read_bytes().startswith(kept)
    assert len({row["key"] for row in rows(data)}) == len(rows(data)) == 9
    assert len(done.json("eval@1")["rows"]) == 9


def test_a_spent_budget_ends_it_and_says_so(data: Path) -> None:
    done = invoke(*run(data, "--methods", "plain", "--budget-minutes", "0", "--json"))
    assert done.code == 5
    assert "the budget ended it after 0 of 3 questions" in done.err
    document = done.json("eval@1")
    assert (document["answered"], document["arms"]) == (0, [])


def test_plain_rows_are_answered_from_the_users_index(data: Path, inside: Path) -> None:
    asked = {
        "question": "Who was the first keeper of the Sandholm light?",
        "answers": ["Mira Oskan"],
    }
    plain = write(data.parent / "plain.jsonl", [asked])
    done = invoke(*run(plain, "--methods", "verbatim", "--json"))
    assert done.code == 0, done.err
    document = done.json("eval@1")
    assert document["arms"][0]["metrics"]["contains"]["mean"] == 1.0
    assert "knowledge_f1" not in document["arms"][0]["metrics"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "plane"], "did you mean plain"),
        (["--ablate", "nothing"], "unknown ablation"),
        (["--methods", "plain", "--ablate", "fke-tau"], "two ways"),
        (["--style", "long"], "--style is"),
        (["--set", "fke.alfa=1"], "did you mean fke.alpha"),
        (["--verifier", "oracle"], "unknown verifier"),
    ],
)
def test_what_is_wrong_shows_before_anything_is_opened(
    arguments: list[str], message: str, data: Path
) -> None:
    done = invoke(*run(data, *arguments))
    assert done.code == 2
    assert message in done.err
    assert not (data.parent / "out").exists()


def test_a_bad_row_is_named(data: Path) -> None:
    data.write_text(data.read_text() + '{"question": 1}\n')
    done = invoke(*run(data))
    assert (done.code, done.out) == (2, "")
    assert "line 4: the field question must be a text" in done.err


def test_an_arm_that_the_data_cannot_feed_is_named(tmp_path: Path, notes: Path) -> None:
    row = {"question": "What is the boiler's pressure limit?", "answers": ["3 bar"]}
    data = write(tmp_path / "plain.jsonl", [row])
    over = ("--index", str(notes / ".ragcli"))
    alone = invoke(*run(data, *over, "--methods", "gold"))
    assert (alone.code, alone.out) == (2, "")
    assert "does not mark what is needed to answer, so gold cannot be run" in alone.err
    beside = invoke(*run(data, *over, "--methods", "verbatim,gold"))
    assert beside.code == 0
    assert "so gold cannot be run" in beside.err
