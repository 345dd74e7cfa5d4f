"""`ragcli train questions` on real indices, and that what it writes measures and trains."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import ragcli
from ragcli.train.questions import drafting
from ragcli.train.questions.checks import REASONS
from ragcli.train.questions.sampling import Job
from ragcli.train.questions.verification import Verification
from ragcli.train.questions.writer import Written
from tests.cli.harness import invoke
from tests.train.tiny import make_encoder

ASKED = {
    "3 bar": "What is the boiler's pressure limit?",
    "Mira Oskan": "Who was the first keeper of the Sandholm light?",
}
THREAD = ("--threads", "1")


class Scripted:
    """Writes what `ASKED` says; after `stop` questions somebody presses Ctrl-C."""

    stop = 99

    def __init__(self, generator: Any) -> None:
        self._left = self.stop

    def write(self, job: Job) -> Written:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return Written(ASKED[job.answer.text], -0.1)

    def close(self) -> None:
        pass


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The notes' two answers, asked for and verified without the generator."""
    monkeypatch.setattr(drafting, "Writer", Scripted)
    monkeypatch.setattr(drafting, "verify", lambda *_: Verification(-0.1, -3.0, {}))


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.model
def test_real_text_and_the_bundled_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four drafts over a sample document: each is kept or dropped for a reason, none is lost."""
    source = Path(ragcli.__file__).parent / "samples" / "history.md"
    shutil.copy(source, tmp_path / "history.md")
    monkeypatch.chdir(tmp_path)
    assert invoke("index", ".").code == 0
    told = invoke("train", "questions", "--out", "q.jsonl", "--estimate", "--json", *THREAD)
    assert told.code in (0, 1), told.err
    assert "a draft takes" in told.err
    assert "q.jsonl lies among the indexed documents" in told.err
    report = told.json("questions@1")
    kept = rows(Path("q.jsonl")) if report["kept"] else []
    dropped = rows(Path("q.dropped.jsonl"))
    assert report["now"]["drafts"] == 4 == len(kept) + len(dropped)
    text = source.read_text(encoding="utf-8")
    for row in [*kept, *dropped]:
        answer = row["answers"][0] if "answers" in row else row["answer"]
        where = row["source"]
        assert text[where["answer_start"] : where["answer_end"]] == answer
        assert text[where["start"] : where["end"]] == where["sentence"]
        assert text[: where["start"]].count("\n") + 1 == where["line"]
    assert {row["reason"] for row in dropped} <= set(REASONS)


@pytest.mark.model
@pytest.mark.usefixtures("inside", "scripted", "bundled_model")
def test_what_it_writes_measures_and_trains(tmp_path: Path) -> None:
    file, out = tmp_path / "q.jsonl", tmp_path / "organizer"
    made = invoke("train", "questions", "--out", str(file), *THREAD)
    assert made.code == 0, made.err
    assert "2 pairs kept of 2 drafts" in made.out
    assert "the documents gave 2 of 100 pairs" in made.err
    assert {row["answers"][0]: row["question"] for row in rows(file)} == ASKED
    again = invoke("train", "questions", "--out", str(file), *THREAD)
    assert "going on: 2 pairs are there" in again.err
    assert "lies among" not in again.err
    assert len(rows(file)) == 2
    measured = invoke("eval", "run", "--data", str(file), "--methods", "verbatim", "--json",
                      "--out", str(tmp_path / "rows"), *THREAD)  # fmt: skip
    assert measured.code == 0, measured.err
    assert len(rows(tmp_path / "rows" / "rows.jsonl")) == 2
    base = make_encoder(tmp_path / "tiny", " ".join(ASKED.values()).lower().split())
    trained = invoke("train", "organizer", "--data", str(file), "--out", str(out), "--base",
                     str(base), "--stages", "warm", "--estimate", *THREAD)  # fmt: skip
    assert trained.code == 0, trained.err
    assert "2 questions to learn from" in trained.err


@pytest.mark.model
@pytest.mark.usefixtures("inside", "scripted", "bundled_model")
def test_ctrl_c_keeps_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "q.jsonl"
    monkeypatch.setattr(Scripted, "stop", 1)
    stopped = invoke("train", "questions", "--out", str(file), *THREAD)
    assert (stopped.code, stopped.out) == (130, "")
    assert len(rows(file)) == 1
    monkeypatch.setattr(Scripted, "stop", 99)
    done = invoke("train", "questions", "--out", str(file), "--limit", "2", *THREAD, terminal=True)
    assert done.code == 0
    assert "pairs" in done.err  # the bar
    assert len(rows(file)) == 2


@pytest.mark.usefixtures("inside")
def test_another_file_is_refused_before_anything_is_opened(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"question": "Who?", "answers": ["I"]}\n')
    result = invoke("train", "questions", "--out", str(file), "--model", "nowhere.gguf", "--json")
    assert result.code == 2
    assert "line 1: not a question that was drafted" in result.json("error@1")["message"]
    assert len(result.err.splitlines()) == 2  # the message and its hint
    assert file.read_text() == '{"question": "Who?", "answers": ["I"]}\n'


def test_without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("train", "questions", "--out", "q.jsonl")
    assert result.code == 3
    assert list(tmp_path.iterdir()) == []
