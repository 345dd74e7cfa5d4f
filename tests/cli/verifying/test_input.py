"""`ragcli verify`: what may be saved in the file, and paths and texts in it that are traps."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cite.saved import QUESTION, answer, citation, sentence
from tests.cli.harness import invoke
from tests.cli.verifying.house import CODE, DOOR, SAID, save, verify

# What is saved


def test_abstentions_errors_and_answers_without_documents(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, answer())
    assert verify()[0] == 0
    assert "abstained" in invoke("verify", "answer.json").out
    error = {"schema": "ragcli/error@1", "code": "model", "message": "no", "question": QUESTION}
    save(tmp_path, {"schema": "ragcli/answers@1", "answers": [error, answer()]})
    code, document = verify()
    assert (code, [one["kind"] for one in document["answers"]]) == (0, ["error", "abstained"])
    save(tmp_path, answer(text="From memory.", method="closed-book"))
    assert (verify()[0], verify("--strict")[0]) == (0, 6)
    save(tmp_path, answer(text="Sentences were cut out.", hits=[{}]))
    assert verify()[0] == 6


def test_stdin_and_batches(house: Path, tmp_path: Path) -> None:
    good = json.loads((tmp_path / "answer.json").read_text())
    bad = answer(sentence("The roof is red.", citation(house / "roof.md", "The roof is red.")))
    delete_roof = house / "roof.md"
    delete_roof.unlink()
    lines = "".join(json.dumps(one) + "\n" for one in (good, bad, good))
    result = invoke("verify", "-", stdin=lines)
    assert result.code == 6
    assert result.out.count(f"> {QUESTION}\n") == 3
    assert result.out.endswith("\n3 answers: 1 do not hold\n")
    document = invoke("verify", "-", "--json", stdin=lines).json("verification@1")
    assert [one["holds"] for one in document["answers"]] == [True, False, True]
    assert document["counts"] == {"fresh": 2, "moved": 0, "changed": 0, "missing": 1}


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe{\0}\0", b"[" * 99_999, b"\0"])
def test_what_is_no_answer(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(content)
    result = invoke("verify", str(file), "--json")
    assert result.code == 2
    assert "is no answer of ragcli: " in result.json("error@1")["message"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for name in (str(tmp_path), str(tmp_path / "none.json"), "a\0b", ""):
        result = invoke("verify", name)
        assert result.code == 2
        assert result.err.startswith("ragcli: cannot read ")


# Hostile answers: the paths in them


@pytest.mark.usefixtures("real_workers")
def test_no_path_blocks_or_leads_out(house: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(DOOR)
    os.mkfifo(house / "fifo.md")
    (house / "link.md").symlink_to(secret)
    (house / "loop.md").symlink_to(house / "loop.md")
    (house / "zero.md").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(house)
        server.bind("socket.md")
        os.chdir(tmp_path)
        cases = {
            ("fifo.md", "fifo.md"): "not a regular file",
            ("socket.md", "socket.md"): "not a regular file",
            ("link.md", "link.md"): "leads out of its root",
            ("loop.md", "loop.md"): "symbolic links",
            ("zero.md", "zero.md"): "leads out of its root",
            ("../secret.md", "../secret.md"): "leads out of the recorded root",
            ("/dev/zero", "zero"): "not a regular file",
            ("/dev/stdin", "stdin"): "",
            ("/proc/self/mem", "mem"): "",
            ("/proc/kmsg", "kmsg"): "",
            ("a\ud800b.md", "a\ud800b.md"): "no such file",
            ("x" * 5000, "x" * 5000): "name too long",
        }
        cited = [
            citation(house / "door.md", CODE, n, path=str(house / path), relative=relative)
            for n, (path, relative) in enumerate(cases, 1)
        ]
        save(tmp_path, answer(sentence(SAID, *cited)))
        for file in (house / "door.md", house / "roof.md"):
            file.unlink()
        started = time.monotonic()
        code, document = verify()
        assert time.monotonic() - started < 30
    assert code == 6
    found = document["answers"][0]["sentences"][0]["citations"]
    for (path, _), reason, one in zip(cases, cases.values(), found, strict=True):
        assert one["status"] in ("missing", "changed"), path
        assert reason in one["reason"], (path, one["reason"])
        assert one["now"] is None


@pytest.mark.usefixtures("real_workers")
def test_files_are_read_by_workers_and_stay_as_they_are(house: Path) -> None:
    before = [(one.name, one.stat().st_mtime_ns, one.read_bytes()) for one in house.iterdir()]
    assert verify()[0] == 0
    assert [
        (one.name, one.stat().st_mtime_ns, one.read_bytes()) for one in house.iterdir()
    ] == before


def test_escapes_do_not_reach_the_terminal(house: Path, tmp_path: Path) -> None:
    evil = "The door\x1b[2J code\u202e is 4711."
    (house / "door.md").write_text(evil)
    cited = citation(house / "door.md", evil, text=evil.replace("\x1b", " "))  # as it is read
    save(tmp_path, answer(sentence(evil, cited), question="\x1b[1m"))
    result = invoke("verify", "answer.json")
    assert result.code == 0
    assert not {"\x1b", "\u202e"} & set(result.out)
