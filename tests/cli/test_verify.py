"""`ragcli verify`: saved answers against their documents as they are now."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cite.saved import QUESTION, answer, citation, sentence
from tests.index.conftest import Bench, InlineExtractor

from .harness import Result, invoke

CODE = "The door code is 4711."
DOOR = f"Notes on the house.\n\n{CODE}\n\nThe roof is red.\n"
SAID = "The code is 4711."


@pytest.fixture(autouse=True)
def _inline(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes only where a test asks for them."""
    if "real_workers" not in request.fixturenames:
        monkeypatch.setattr("ragcli.cite.current.Extractor", InlineExtractor)


@pytest.fixture
def real_workers() -> None:
    """Files are read by worker processes, as in earnest."""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document, and an answer that was given from it."""
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "door.md").write_text(DOOR)
    (folder / "roof.md").write_text("The roof is red.\n")
    save(tmp_path, answer(sentence(SAID, citation(folder / "door.md", CODE))))
    monkeypatch.chdir(tmp_path)
    return folder


def save(folder: Path, document: object) -> None:
    (folder / "answer.json").write_text(json.dumps(document))


def verify(*flags: str) -> tuple[int, Any]:
    result = invoke("verify", "answer.json", "--json", *flags)
    return result.code, result.json("verification@1")


def first(document: Any) -> Any:
    return document["answers"][0]["sentences"][0]["citations"][0]


# What becomes of a citation


def edit_nothing(folder: Path) -> None:
    """As it was."""


def edit_below(folder: Path) -> None:
    (folder / "door.md").write_text(DOOR + "The cellar is damp.\n")


def edit_above(folder: Path) -> None:
    (folder / "door.md").write_text("Read this first.\n\n" + DOOR)


def wrap(folder: Path) -> None:
    (folder / "door.md").write_text("New.\n\nThe door code\nis 4711.\n")


def edit_it(folder: Path) -> None:
    (folder / "door.md").write_text(DOOR.replace("4711", "9999"))


def empty(folder: Path) -> None:
    (folder / "door.md").write_text("")


def exchange_keeping_size_and_time(folder: Path) -> None:
    before = (folder / "door.md").stat()
    edit_it(folder)
    os.utime(folder / "door.md", ns=(before.st_atime_ns, before.st_mtime_ns))


def rename(folder: Path) -> None:
    (folder / "door.md").rename(folder / "gate.txt")


def rename_folder(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "door.md").rename(folder / "a" / "door.md")
    (folder / "a").rename(folder / "b")


def move_and_edit(folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "new" / "door.md").write_text("Moved. " + DOOR)
    (folder / "door.md").unlink()


def another_in_its_place(folder: Path) -> None:
    (folder / "door.md").rename(folder / "old.md")
    (folder / "door.md").write_text("Nothing of that.\n")


def edit_beside_a_copy(folder: Path) -> None:
    shutil.copy2(folder / "door.md", folder / "copy.md")
    edit_it(folder)


def delete(folder: Path) -> None:
    (folder / "door.md").unlink()


def delete_all(folder: Path) -> None:
    shutil.rmtree(folder)


def a_folder_in_its_place(folder: Path) -> None:
    (folder / "door.md").unlink()
    (folder / "door.md").mkdir()


@pytest.mark.parametrize(
    ("change", "status", "edited", "line"),
    [
        (edit_nothing, "fresh", False, 3),
        (edit_below, "fresh", True, 3),
        (edit_above, "moved", True, 5),
        (wrap, "moved", True, 3),
        (edit_it, "changed", True, 3),
        (exchange_keeping_size_and_time, "changed", True, 3),
        (empty, "changed", True, None),
        (rename, "moved", False, 3),
        (rename_folder, "moved", False, 3),
        (move_and_edit, "moved", True, 3),
        (another_in_its_place, "changed", True, None),
        (edit_beside_a_copy, "changed", True, 3),
        (delete, "missing", False, None),
        (delete_all, "missing", False, None),
        (a_folder_in_its_place, "missing", False, None),
    ],
)
def test_a_citation(
    house: Path, change: Callable[[Path], None], status: str, edited: bool, line: int | None
) -> None:
    change(house)
    code, document = verify()
    cited = first(document)
    assert (cited["status"], cited["edited"]) == (status, edited)
    assert cited["now"] is None if line is None else cited["now"]["line"] == line
    good = status in ("fresh", "moved")
    assert (code, document["holds"]) == ((0, True) if good else (6, False))
    verdict = document["answers"][0]["sentences"][0]["verdict"]
    assert (verdict == "supported") == good
    assert document["counts"][status] == 1
    assert invoke("verify", "answer.json", "-q") == Result(code, "", "")


def test_what_is_said_to_people(house: Path) -> None:
    held = invoke("verify", "answer.json")
    assert held.out == (
        f"{SAID} [1]  (supported)\n"
        f"[1] fresh  house/door.md:3  “{CODE}”\n"
        "Holds  1 citation (1 fresh); judged by lexical\n"
    )
    edit_it(house)
    lost = invoke("verify", "answer.json")
    assert lost.code == 6
    assert f"{SAID} [1]  (partly supported, was supported)\n" in lost.out
    assert "it says now, at house/door.md:3, “The door code is 9999.”\n" in lost.out
    assert lost.out.splitlines()[-1].startswith(
        "Does not hold: 1 citation changed; 1 sentence no longer supported"
    )
    assert "\x1b[" in invoke("verify", "answer.json", terminal=True).out


def test_an_edit_that_still_supports_the_sentence(house: Path) -> None:
    (house / "door.md").write_text("The code of the door is 4711.\n")
    code, document = verify()
    assert (code, document["answers"][0]["failures"]) == (6, ["1 citation changed"])
    assert document["answers"][0]["sentences"][0]["verdict"] == "supported"


# Elsewhere


@pytest.mark.parametrize("change", [another_in_its_place, edit_beside_a_copy])
def test_a_copy_is_named_and_is_not_the_file(house: Path, change: Callable[[Path], None]) -> None:
    change(house)
    name = "old.md" if change is another_in_its_place else "copy.md"
    assert first(verify()[1])["reason"].endswith(f"as it was lies at {house / name}")
    (house / "door.md").unlink()
    code, document = verify()
    assert (code, first(document)["status"]) == (0, "moved")


def test_another_machine(house: Path, tmp_path: Path) -> None:
    house.rename(tmp_path / "elsewhere")
    assert first(verify()[1])["status"] == "missing"
    code, document = verify("--root", "elsewhere")
    assert (code, first(document)["status"]) == (0, "fresh")
    assert first(document)["now"]["path"] == str(tmp_path / "elsewhere" / "door.md")
    above, document = verify("--root", ".")
    assert (above, first(document)["status"]) == (0, "moved")
    both, document = verify("--root", ".", "--root", "elsewhere")
    assert (both, first(document)["status"]) == (0, "fresh")


def test_a_name_that_is_not_utf8(house: Path, tmp_path: Path) -> None:
    file = house / os.fsdecode(b"d\xff\xe2\x98\xba.md")
    file.write_text(DOOR)
    exact = os.fsencode(file).hex()
    shown = {"path": f"{house}/d\\xff☺.md", "relative": "d\\xff☺.md", "path_bytes": exact}
    save(tmp_path, answer(sentence(SAID, citation(file, CODE, **shown))))
    assert first(verify()[1])["status"] == "fresh"
    house.rename(tmp_path / "elsewhere")
    code, document = verify("--root", "elsewhere")
    assert (code, first(document)["status"]) == (0, "fresh")
    assert bytes.fromhex(first(document)["now"]["path_bytes"]).endswith(b"/d\xff\xe2\x98\xba.md")


def test_root_alone_counts(house: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    code, document = verify("--root", "other")
    assert (code, first(document)["status"]) == (6, "missing")
    assert invoke("verify", "answer.json", "--root", "none").code == 2


def test_an_index_knows_where_it_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcli.index.run.Extractor", InlineExtractor)
    bench = Bench(tmp_path)
    door = bench.write("sub/door.md", DOOR)
    save(tmp_path, answer(sentence(SAID, citation(door, CODE))))
    away = tmp_path / "away"
    away.mkdir()
    door.rename(away / "gate.md")
    monkeypatch.chdir(tmp_path)
    assert first(verify()[1])["status"] == "missing"  # not below the recorded root
    bench.update(away)
    code, document = verify()
    assert (code, first(document)["status"]) == (0, "moved")
    assert first(document)["now"]["path"] == str(away / "gate.md")
    (away / "gate.md").write_text(DOOR.replace("4711", "9999"))  # and the index is behind
    assert first(verify()[1])["status"] == "missing"
    (bench.index_dir / "catalog.sqlite").write_bytes(b"damaged" * 100)
    code, document = verify()
    assert (code, first(document)["status"]) == (6, "missing")
    assert "the index was not asked" in document["warnings"][0]


# Sentences


@pytest.mark.parametrize(
    ("said", "verdict", "code", "strict"),
    [
        ("The code is 9999.", "supported", 6, 6),
        ("The code is 9999.", "partly", 0, 6),
        ("The safe was bought in 1970.", "unsupported", 0, 6),
        ("The safe was bought in 1970.", "partly", 6, 6),
        (SAID, "unsupported", 0, 0),
    ],
)
def test_a_sentence_must_not_be_weaker_than_it_was(
    house: Path, tmp_path: Path, said: str, verdict: str, code: int, strict: int
) -> None:
    save(
        tmp_path, answer(sentence(said, citation(house / "door.md", CODE), verdict=verdict))
    )  # fmt: skip
    assert (verify()[0], verify("--strict")[0]) == (code, strict)


def test_an_altered_answer(house: Path, tmp_path: Path) -> None:
    cited = sentence(SAID, citation(house / "door.md", CODE))
    save(tmp_path, answer(cited, text="The code is 9999."))
    code, document = verify()
    assert code == 6
    assert document["answers"][0]["failures"] == [
        "sentence 1 is not what the answer says at its place"
    ]


def test_a_quote_that_never_was_there(house: Path, tmp_path: Path) -> None:
    cited = citation(house / "door.md", CODE, text="The door code is 9999.")
    save(tmp_path, answer(sentence("The code is 9999.", cited)))
    code, document = verify()
    assert (code, first(document)["status"], first(document)["edited"]) == (6, "changed", False)


def test_headings_count_as_far_as_they_are_there(house: Path, tmp_path: Path) -> None:
    gate, quote = house / "gate.md", "Its code is 4711."
    gate.write_text(f"# Northgate\n\n{quote}\n")
    said = sentence("The code of Northgate is 4711.", citation(gate, quote, heading="Northgate"))
    save(tmp_path, answer(said))
    assert verify()[0] == 0
    gate.write_text(f"# Southgate\n\n{quote}\n")
    code, document = verify()
    assert first(document)["status"] == "fresh"
    assert (code, document["answers"][0]["failures"]) == (6, ["1 sentence no longer supported"])


def test_a_source_sentence_itself_is_supported_whatever_judges(house: Path, tmp_path: Path) -> None:
    """What `ask --verbatim` gives, and the quotation that stands where an answer does not."""
    cited = sentence("The roof is red.", citation(house / "roof.md", "The roof is red."))
    origin = {"verifier": "none: source sentences", "language": "en"}
    save(tmp_path, answer(cited, question="Which code?", provenance=origin))
    assert verify()[0] == 0
    (house / "roof.md").write_text("The roof is blue.\n")
    assert verify()[0] == 6


def test_judges(house: Path, tmp_path: Path) -> None:
    cited = sentence(SAID, citation(house / "door.md", CODE))
    for name, hint in (("nli:minilm", "nli:PATH"), ("crystal ball", "lexical")):
        save(tmp_path, answer(cited, provenance={"verifier": name}))
        result = invoke("verify", "answer.json")
        assert result.code == 2
        assert hint in result.err
        assert invoke("verify", "answer.json", "--verifier", "lexical").code == 0
    assert invoke("verify", "answer.json", "--verifier", "x").code == 2
    assert invoke("verify", "answer.json", "--verifier", "nli:nowhere").code == 4


# What is saved


def test_abstentions_errors_and_answers_without_documents(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, answer())
    assert verify() == (0, verify()[1])
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


# The real thing


@pytest.mark.model
def test_an_answer_of_ask(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copied)
    for flags in (["--jsonl"], ["--json"]):
        asked = invoke("ask", "--verbatim", "Who was the first keeper?", *flags)
        assert asked.code == 0, asked.err
        (copied / "answer.json").write_text(asked.out)
        code, document = verify()
        assert code == 0
        assert document["counts"]["fresh"] >= 1
    text = (copied / "keepers.txt").read_text()
    (copied / "keepers.txt").write_text(text.replace("Mira Oskan", "Ada Lind"))
    code, document = verify()
    assert (code, document["counts"]["changed"] >= 1) == (6, True)


def replayed(record: Any, model: Path) -> list[str]:
    """The command line that asks again, from nothing but what the answer records."""
    origin = record["provenance"]
    request = origin["request"]
    assert hashlib.sha256(model.read_bytes()).hexdigest() == record["model"]["sha256"]
    argv = ["ask", record["question"], "--json", "--threads", "1", "--model", str(model)]
    argv += ["--method", origin["method"], "--decode", origin["decode"]]
    argv += ["--base", origin["base"]] if origin["base"] else []
    argv += ["--select", request["select"]] if request["select"] else []
    argv += ["--verifier", origin["verifier"]]
    argv += [part for glob in request["in"] for part in ("--in", glob)]
    argv += [part for kind in request["type"] for part in ("--type", kind)]
    argv += ["--ctx", str(request["ctx"])] if request["ctx"] else []
    argv += [flag for flag in ("force", "verbatim") if request[flag] for flag in (f"--{flag}",)]
    argv += [
        part
        for key, value in record["parameters"].items()
        for part in ("--set", f"{key}={str(value).lower() if value in (True, False) else value}")
    ]
    return argv


@pytest.mark.model
def test_an_answer_is_replayed_from_its_own_record(
    notes: Path, bundled_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes)
    asked = invoke(
        "ask", "Who was the first keeper?", "--json", "--threads", "1", "--select", "similar", "--decode", "fke",
        "--seed", "7", "--max-tokens", "20", "-k", "2", "--in", "*.txt", "--in", "*.md", "--ctx",
        "1024", "--force", "--set", "sampling.temperature=0.9", "fke.alpha=0.7",
    )  # fmt: skip
    assert asked.code == 0, asked.err
    first = asked.json("answer@1")
    monkeypatch.setenv("RAGCLI_SET", "")
    again = invoke(*replayed(first, bundled_model)).json("answer@1")
    # Where it lies and how long it took is all that may differ.
    for one in (first, again):
        del one["timings"]
    assert again["answer"] == first["answer"]
    assert again == first
    assert first["provenance"]["engine"].startswith("llama-cpp-python ")
    assert first["provenance"]["index"]["encoder"]["sha256"]
    assert {"chunking", "analyzer", "schema", "generation"} <= set(first["provenance"]["index"])
