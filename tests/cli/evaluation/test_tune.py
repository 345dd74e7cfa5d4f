"""`ragcli eval tune` with the bundled models, on three questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.harness import invoke
from ragcli.cli import config
from ragcli.cli.evaluation.tuning import Asked
from tests.evaluate.data import ROWS, write

QUICK = ("--folds", "2", "--max-tokens", "6", "--ctx", "1024", "--threads", "1")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "small.jsonl")


def argv(data: Path, *arguments: str) -> list[str]:
    folder = data.parent
    places = ("--out", str(folder / "tuned.toml"), "--rows", str(folder / "rows"))
    return ["eval", "tune", "--data", str(data), *places, *QUICK, *arguments]


@pytest.mark.model
def test_every_part_with_a_tiny_grid(data: Path) -> None:
    tiny = ("--try", "fke.alpha=0.5,4", "--try", "drag.gamma=2", "--json", "--seed", "3")
    done = invoke(*argv(data, *tiny))
    assert done.code == 0, done.err
    document = done.json("tuning@1")
    assert "21 answers to make: at most about" in done.err
    assert "abstain: 3 questions judged twice: about" in done.err
    parts = {one["part"]: one for one in document["parts"]}
    assert list(parts) == ["abstain", "delta", "drag", "fke"]
    assert (document["complete"], document["seed"], document["folds"]) == (True, 3, 2)
    assert {one["questions"] for one in parts.values()} == {3}
    assert parts["abstain"]["default"]["mean"] == 1.0
    assert parts["delta"]["facts"]["tokens"] > 3
    assert [one["key"] for one in parts["fke"]["values"]] == ["fke.alpha"]
    assert parts["fke"]["facts"]["points"] >= 3
    text = (data.parent / "tuned.toml").read_text(encoding="utf-8")
    kept = {v["key"]: v["fitted"] for one in parts.values() if one["use"] for v in one["values"]}
    assert config.read_file(data.parent / "tuned.toml").items() <= kept.items()
    assert all(f"[{table}]" in text for table in ("evidence", "drag", "fke"))

    rows = (data.parent / "rows" / "rows.jsonl").read_bytes()
    again = invoke(*argv(data, *tiny, "--again"))
    assert again.json("tuning@1") == document
    assert "the answers that are needed first are there already" in again.err
    assert (data.parent / "rows" / "rows.jsonl").read_bytes() == rows


def test_abstention_alone_loads_no_generator(data: Path) -> None:
    done = invoke(*argv(data, "--what", "abstain", "--model", "there-is-no-such-model"))
    assert done.code == 0, done.err
    head, row = done.out.splitlines()[:2]
    assert head.split()[0] == "n"
    assert row.split()[:3] == ["abstain", "3", "1.000"]
    assert "evidence.enough" in done.out
    assert not (data.parent / "rows").exists()


def test_a_file_that_is_there_is_not_replaced(data: Path) -> None:
    file = data.parent / "tuned.toml"
    file.write_text("k = 3\n")
    done = invoke(*argv(data, "--what", "abstain"))
    assert (done.code, done.out) == (2, "")
    assert "is there already" in done.err
    assert file.read_text() == "k = 3\n"
    assert invoke(*argv(data, "--what", "abstain", "--again")).code == 0
    assert "[evidence]" in file.read_text()
    assert sorted(one.name for one in data.parent.iterdir()) == ["small.jsonl", "tuned.toml"]


def test_a_spent_budget_is_told(data: Path) -> None:
    done = invoke(*argv(data, "--what", "abstain", "--budget-minutes", "0"))
    assert done.code == 2
    assert "the budget ended before 2 questions" in done.err
    assert not (data.parent / "tuned.toml").exists()


@pytest.mark.model
def test_a_budget_leaves_the_parts_that_were_done(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Asked, "stopper", lambda asked, left: lambda last: left == 1)
    done = invoke(*argv(data, "--what", "abstain,fke", "--json"))
    assert done.code == 5
    assert "fke: the budget cut it short; too few questions were used" in done.err
    document = done.json("tuning@1")
    assert [one["part"] for one in document["parts"]] == ["abstain"]
    assert not document["complete"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--what", "crag"], "crag cannot be tuned"),
        (["--folds", "5"], "3 questions cannot be parted into 5 folds"),
        (["--try", "fke.alfa=1"], "did you mean fke.alpha"),
        (["--try", "drag.delta=1"], "drag.delta is not searched"),
        (["--try", "drag.lambda_inv=3"], "does not hold"),
        (["--style", "long"], "--style is"),
        (["--set", "fke.alfa=1"], "did you mean fke.alpha"),
    ],
)
def test_what_is_wrong_shows_before_anything_is_opened(
    arguments: list[str], message: str, data: Path
) -> None:
    done = invoke(*argv(data, *arguments))
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert {one.name for one in data.parent.iterdir()} == {"small.jsonl"}


def test_data_without_marks_gives_no_threshold(tmp_path: Path) -> None:
    bare = [
        {**row, "passages": [{"title": p["title"], "sentences": p["sentences"]} for p in row["passages"]]}
        for row in ROWS
    ]  # fmt: skip
    done = invoke(*argv(write(tmp_path / "bare.jsonl", bare), "--what", "abstain"))
    assert (done.code, done.out) == (2, "")
    assert "the source of 0 questions is marked" in done.err
