"""`ragcli eval verifiers` over a small file, in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.harness import invoke


def row(number: int, answer: str, *, marked: bool = True) -> str:
    gold = {"gold": [1]} if marked else {}
    passages = [
        {"title": "Light", "sentences": [f"The light {number} was kept by {answer}."], **gold},
        {"title": "Bees", "sentences": ["A keeper has bees."], **({"gold": [0]} if marked else {})},
    ]
    question = {"id": str(number), "question": f"Who kept the light {number}?"}
    return json.dumps(question | {"answers": [answer], "passages": passages})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "few.jsonl"
    rows = [row(1, "Mira Oskan"), row(2, "Jon Berg"), row(3, "Lena Falk")]
    file.write_text("\n".join(rows), encoding="utf-8")
    return file


def test_a_table(data: Path) -> None:
    result = invoke("eval", "verifiers", "--data", str(data))
    assert (result.code, result.err) == (0, "")
    first, head, *rows = result.out.splitlines()
    assert first.startswith("lexical  accuracy ")
    assert head.split() == ["pairs", "claim", "truth", "right", "95", "%"]
    assert [line.split()[:3] for line in rows] == [
        ["gold", "sentence", "supported"],
        ["gold", "answer", "supported"],
        ["distractor", "sentence", "unsupported"],
        ["distractor", "answer", "unsupported"],
        ["swapped", "sentence", "unsupported"],
        ["swapped", "answer", "unsupported"],
    ]
    assert all("n=3" in line for line in rows)


@pytest.mark.parametrize("argv", [("--json", "eval", "verifiers"), ("eval", "verifiers", "--json")])
def test_as_json(argv: tuple[str, ...], data: Path) -> None:
    document = invoke(*argv, "--data", str(data), "--limit", "2").json("verifiers@1")
    assert (document["data"], document["questions"]) == ("few.jsonl", 2)
    (verifier,) = document["verifiers"]
    assert verifier["verifier"] == "lexical"
    assert {one["n"] for one in verifier["classes"]} == {2}


def test_progress_is_on_stderr_of_a_terminal_only(data: Path) -> None:
    argv = ("eval", "verifiers", "--data", str(data), "--json")
    shown, piped = invoke(*argv, terminal=True), invoke(*argv)
    assert shown.json("verifiers@1")["questions"] == 3  # nothing else is on stdout
    assert "lexical" in shown.err
    assert piped.err == ""


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["--verifier", "judge"], 2, "unknown verifier: judge"),
        (["--limit", "1"], 2, "--limit"),
    ],
)
def test_refused(argv: list[str], code: int, said: str, data: Path) -> None:
    result = invoke("eval", "verifiers", "--data", str(data), *argv)
    assert (result.code, result.out) == (code, "")
    assert said in result.err


def test_data_without_labels(tmp_path: Path) -> None:
    file = tmp_path / "bare.jsonl"
    file.write_text(row(1, "Mira Oskan", marked=False), encoding="utf-8")
    result = invoke("eval", "verifiers", "--data", str(file), "--json")
    assert result.code == 2
    assert "no pairs can be made from" in result.json("error@1")["message"]


def test_the_group_alone_lists_its_commands() -> None:
    result = invoke("eval")
    assert result.code == 0
    assert "verifiers" in result.out


@pytest.mark.model
def test_the_generator_as_a_judge(data: Path, bundled_model: Path) -> None:
    argv = ["--data", str(data), "--limit", "2", "--verifier", "lexical", "--verifier", "llm"]
    document = invoke("eval", "verifiers", *argv, "--model", str(bundled_model), "--json").json(
        "verifiers@1"
    )
    lexical, llm = document["verifiers"]
    assert lexical["verifier"] == "lexical"
    assert llm["verifier"].startswith("llm:")
    assert [one["n"] for one in llm["classes"]] == [one["n"] for one in lexical["classes"]]
