"""Awkward inputs that people meet: names, query syntax, polluted output."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .harness import invoke, process

QUERIES = ["ratio 3:1?", "fish days:", "https://example.org/a?b=c:d", "it's", "(a", '"final',
           "C++", "--help", "AND", "NOT x", ">>>", "[a TO", "$5 & up", "*", "\\", "a\x00b", "-",
           "field:value^3", "~", "{!x}", "%s", "😀", "a" * 5000]  # fmt: skip


def indexed(cases: Path, name: str, tmp_path: Path, monkeypatch) -> Path:
    shutil.copytree(cases / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert invoke("index", name).code == 0
    return tmp_path / name


@pytest.mark.model
def test_01_one_bad_file_stops_nothing(cases, tmp_path, monkeypatch):
    shutil.copytree(cases / "01", tmp_path / "01")
    monkeypatch.chdir(tmp_path)
    result = invoke("index", "01")
    assert result.code == 5
    assert "24 files: 20 indexed, 0 unchanged, 0 skipped, 4 failed" in result.out
    assert all(name in result.out for name in ("05b.pdf", "10b.docx", "15b.pdf", "epub"))
    asked = invoke("ask", "How is the valve in room 20 opened?", "--json").json("answer@1")
    assert "22 times" in asked["answer"]
    cited = [c["relative"] for s in asked["sentences"] for c in s["citations"]]
    assert cited == ["20.md"]


def test_03_odd_names(cases, tmp_path, monkeypatch):
    folder = indexed(cases, "03", tmp_path, monkeypatch)
    status = invoke("status", "--files", "--json").json("status@1")
    assert len(status["files"]) == 8
    found = {}
    for metal in ("copper", "iron", "tin", "lead", "zinc", "gold", "silver", "nickel"):
        result = invoke("search", metal, "-k", "8")
        paths = [line.split(": ")[0].rpartition(":")[0] for line in result.out.splitlines()]
        assert all(Path(path).exists() for path in paths)
        assert len(set(paths)) == 8
        found[metal] = paths[0]
        assert metal in Path(paths[0]).read_text()
    assert len(set(found.values())) == 8
    assert {Path(path).name for path in found.values()} == {one.name for one in folder.iterdir()}


@pytest.fixture
def misc(cases, tmp_path, monkeypatch):
    return indexed(cases, "17", tmp_path, monkeypatch)


@pytest.mark.usefixtures("misc")
def test_17_any_string_is_a_query():
    for query in QUERIES:
        result = invoke("search", "--json", "--", query)
        assert result.code in (0, 1), (query, result.err)
        assert result.json("search@1")["query"] == query
        assert invoke("search", "--mode", "lexical", "--", query).code in (0, 1)
    for query in ("", "   ", "\t\n"):
        assert invoke("search", "--", query).code == 2


@pytest.mark.usefixtures("misc")
def test_17_what_is_in_the_text_is_found():
    for query in ("ratio 3:1?", "https://example.org/a?b=c:d", "C++", "it's"):
        assert invoke("search", "--mode", "lexical", "--", query).out.startswith("17/misc.md:1: ")


@pytest.mark.parametrize(
    ("command", "schema", "code"),
    [
        ("search zinc --json", "search@1", 0),
        ("search --type docx zinc --json", "search@1", 1),
        ("search --json", "error@1", 2),
        ("status --json --files", "status@1", 0),
        ("index . --json", "index@1", 5),
        ("--json search zinc --index nowhere", "error@1", 3),
    ],
)
@pytest.mark.parametrize("terminal", [False, True])
def test_27_one_document_always(notes, command, schema, code, terminal):
    """In a pipe and inside a terminal, where stderr is the same stream."""
    argv = [sys.executable, "-m", "ragcli", *shlex.split(command)]
    if not terminal:
        done = process(shlex.split(command), cwd=notes)
        assert done.code == code
        done.json(schema)
        return
    if shutil.which("script") is None:
        pytest.skip("no script(1) here")
    inner = shlex.join(argv) + " 2>/dev/null"
    done = subprocess.run(
        ["script", "-qec", inner, "/dev/null"], cwd=notes, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert json.loads(done.stdout)["schema"] == f"ragcli/{schema}"


def test_27_first_run_without_an_index(tmp_path):
    done = process(["search", "x", "--json"], cwd=tmp_path)
    assert (done.code, done.json("error@1")["code"]) == (3, "no-index")
    assert "ragcli index FOLDER" in done.json("error@1")["hint"]
