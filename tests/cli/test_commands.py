"""The commands over a small real index, in this process."""

import json
import os
from pathlib import Path

import pytest

from ragcli import __version__
from ragcli.render.json import dumps

from .harness import invoke

pytestmark = pytest.mark.usefixtures("inside")


def test_index_again_does_nothing_and_says_so(inside):
    result = invoke("index", ".")
    assert result.code == 5
    assert "7 files: 0 indexed, 5 unchanged, 1 skipped, 1 failed" in result.out
    assert "failed   broken.pdf: " in result.out
    assert result.err == ""


def test_index_summary_as_json(copied, monkeypatch):
    monkeypatch.chdir(copied)
    Path("new.md").write_text("A new note says silver.\n")
    document = invoke("index", ".", "--json").json("index@1")
    assert (document["found"], document["indexed"], document["failed"]) == (8, 1, 1)
    total = sum(document[key] for key in ("indexed", "unchanged", "skipped", "failed"))
    assert document["found"] == total
    assert document["index"] == str(copied / ".ragcli")
    assert {Path(one["path"]).name for one in document["files"]} >= {"new.md", "broken.pdf"}


def test_index_events(copied, monkeypatch):
    monkeypatch.chdir(copied)
    lines = [json.loads(line) for line in invoke("index", ".", "--jsonl").out.splitlines()]
    assert lines[0]["event"] == "scanned"
    assert lines[-1]["event"] == "indexed"


def test_index_verbose_names_every_file_it_read(copied, monkeypatch):
    monkeypatch.chdir(copied)
    result = invoke("index", "--rebuild", ".", "-v")
    assert all(f"{name}: " in result.out for name in ("my file.md", "[b] x.md", "🐘.md"))


@pytest.mark.parametrize(("path", "code"), [("nothing-here", 2), ("", 2)])
def test_index_of_nothing(path, code):
    assert invoke("index", path).code == code


def test_index_of_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert invoke("index", "empty").code == 1


def test_search_in_a_pipe():
    result = invoke("search", "keeper", "bees", "-k", "1")
    assert result.code == 0
    assert result.out.startswith("keepers.txt:1: ")
    assert "(#1 0.0" in result.out
    assert result.err == ""


def test_search_on_a_terminal():
    result = invoke("search", "zinc", "-k", "1", terminal=True)
    assert "[b] x.md:1" in result.out
    assert "\x1b[" in result.out
    assert "\x1b" not in invoke("search", "zinc", "--color", "never").out


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "dense"])
def test_search_as_json(mode):
    found = invoke("search", "zinc", "--mode", mode, "--json", "-k", "2").json("search@1")
    first = found["hits"][0]
    assert Path(first["path"]).exists()
    assert first["relative"] == "[b] x.md"
    assert (found["mode"], found["k"], found["query"]) == (mode, 2, "zinc")
    assert (first["dense"] is None) == (mode == "lexical")


def test_search_a_line_a_hit():
    lines = invoke("search", "zinc", "--jsonl", "-k", "2").out.splitlines()
    assert [json.loads(line)["hit"]["rank"] for line in lines] == [1, 2]


def test_search_filters():
    assert invoke("search", "zinc", "--in", "keepers*").out.startswith("keepers.txt")
    assert invoke("search", "zinc", "-t", "text").out.startswith("keepers.txt")
    result = invoke("search", "zinc", "--type", "docx")
    assert (result.code, result.out, result.err) == (1, "", "nothing found\n")
    assert invoke("search", "zinc", "--type", "docx", "--json").json("search@1")["hits"] == []
    assert invoke("search", "zinc", "--type", "docx", "--jsonl").out == ""


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
@pytest.mark.parametrize("command", ["search", "ask"])
def test_an_empty_query_is_a_usage_error(command, query):
    result = invoke(command, query, "--json")
    assert result.code == 2
    assert result.json("error@1")["code"] == "usage"
    assert result.err.startswith("ragcli: the query is empty\n")


def test_a_query_that_is_not_utf8():
    assert invoke("search", os.fsdecode(b"zinc \xff"), "-k", "1").code == 0


def test_a_stale_file_is_told(copied, monkeypatch):
    monkeypatch.chdir(copied)
    Path("keepers.txt").write_text("Somebody else was the first keeper.\n")
    result = invoke("search", "keeper", "-k", "1")
    assert "1 file changed since indexing (keepers.txt)" in result.err
    found = invoke("search", "keeper", "-k", "1", "--json").json("search@1")
    assert len(found["warnings"]) == 1
    assert "since      1 changed (keepers.txt); `ragcli index`" in invoke("status").out
    assert "changed since indexing" in invoke("show", "keepers.txt").err


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        ("boiler.md:5", [5]),
        ("[b] x.md", [1]),
        ("keepers.txt:0-11", [1]),
        ("./keepers.txt", [1]),
        ("boiler.md:10-18", [3]),
    ],
)
def test_show(target, lines):
    shown = invoke("show", target, "--json").json("show@1")
    assert [line["line"] for line in shown["lines"] if line["marked"]] == lines
    text = invoke("show", target).out
    assert text.splitlines()[0].startswith(Path(shown["path"]).name)


def test_show_context():
    assert len(invoke("show", "boiler.md:1", "-C", "0").out.splitlines()) == 2
    assert len(invoke("show", "boiler.md:1", "--context", "2").out.splitlines()) == 4


def test_show_a_citation_as_json_gives_it():
    best = invoke("search", "october", "--json").json("search@1")["hits"][0]["best_sentence"]
    path = Path("boiler.md").resolve()
    shown = invoke("show", f"{path}:{best['start']}-{best['end']}", "--json").json("show@1")
    assert best["text"] in "\n".join(line["text"] for line in shown["lines"] if line["marked"])
    assert (shown["start"], shown["end"]) == (best["start"], best["end"])


@pytest.mark.parametrize(
    ("target", "code"),
    [("nope.md", 1), ("boiler.md:999", 1), ("boiler.md:p1", 1), ("boiler.md:0", 2),
     ("boiler.md:5-999999", 1), ("", 1), ("a\x00b", 1), ("broken.pdf", 1)],
)  # fmt: skip
def test_show_of_what_is_not_there(target, code):
    result = invoke("show", target, "--json")
    assert result.code == code
    assert result.json("error@1")["exit_code"] == code


def test_status():
    text = invoke("status").out
    assert "5 indexed, 1 skipped, 1 failed" in text
    assert "failed   broken.pdf: " in text
    files = invoke("status", "--files").out
    assert all(f"{name}: " in files for name in ("picture.png", "broken.pdf", "keepers.txt"))


def test_status_as_json_accounts_for_every_file(inside):
    short = invoke("status", "--json").json("status@1")
    assert "files" not in short
    whole = invoke("status", "--files", "--json").json("status@1")
    assert {one["relative"]: one["status"] for one in whole["files"]} == {
        **dict.fromkeys(("boiler.md", "keepers.txt", "my file.md", "[b] x.md", "🐘.md"), "indexed"),
        "broken.pdf": "failed",
        "picture.png": "skipped",
    }  # fmt: skip
    assert all(one["reason"] for one in whole["files"] if one["status"] != "indexed")
    assert short["counts"] == {"indexed": 5, "partial": 0, "skipped": 1, "failed": 1}


def test_forget(copied, monkeypatch):
    monkeypatch.chdir(copied)
    result = invoke("forget", "keepers.txt")
    assert result.code == 0
    assert result.out.startswith("1 file removed; 4 passages left")
    assert "the next run takes this in again, unless a .ragcliignore names it" in result.err
    assert Path("keepers.txt").exists()
    assert "keepers" not in invoke("search", "keeper bees").out
    again = invoke("forget", "keepers.txt", "--json")
    assert again.code == 2
    assert "holds nothing of keepers.txt" in again.json("error@1")["message"]
    assert invoke("forget", "my file.md", "--json").json("index@1")["removed"] == 1


def test_methods():
    everything = invoke("methods", "--json").json("methods@1")
    assert {"plain", "fke", "drag"} <= {one["name"] for one in everything["methods"]}
    assert "fke.alpha" in {one["key"] for one in everything["settings"]}
    one = invoke("methods", "fke", "--json").json("methods@1")
    assert [each["name"] for each in one["methods"]] == ["fke"]
    assert "documents and sentences fused" in invoke("methods").out
    assert "Hybrid" in invoke("methods", "fke").out
    decoder = invoke("methods", "cad").out
    assert "cad.a" in decoder
    assert "drag.gamma" not in decoder
    assert "drag.gamma" in invoke("methods", "drag-all").out
    wrong = invoke("methods", "fkee")
    assert (wrong.code, "did you mean fke" in wrong.err) == (2, True)


def test_version_and_help():
    assert invoke("--version").out == f"ragcli {__version__}\n"
    assert invoke().out == invoke("--help").out
    assert "Commands:" in invoke().out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["serch", "x"], "No such command 'serch'. Did you mean 'search'?"),
        (["search"], "Missing argument 'QUERY'"),
        (["search", "x", "-k", "0"], "Invalid value for '-k'"),
        (["search", "x", "--mode", "fast"], "Invalid value for '--mode'"),
        (["search", "x", "--colour", "never"], "No such option: --colour"),
        (["search", "x", "--index"], "requires an argument"),
        (["search", "x", "--index", "no-such-folder"], "there is no index in no-such-folder"),
        (["ask", "x", "--method", "fk"], "unknown method: fk (did you mean fke?)"),
        (["ask", "x", "--decode", "fk"], "unknown decoder: fk (did you mean fke?)"),
        (["ask", "x", "--select", "fk"], "unknown selector: fk (did you mean fke?)"),
        (["ask", "x", "--set", "fke.alhpa=1"], "unknown setting: fke.alhpa (did you mean fke.alpha?)"),
        (["ask", "x", "--set", "alpha"], "not a setting: alpha"),
        (["ask", "x", "--verifier", "vibes"], "unknown verifier: vibes"),
        (["ask", "x", "--model", "no/such.gguf"], "no such model file"),
        (["ask", "x", "--encoder", "no-such-folder"], "no such encoder"),
        (["config", "set", "modell", "x"], "unknown setting: modell"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line_and_in_json(argv, said):
    plain = invoke(*argv)
    assert said in plain.err.splitlines()[0]
    assert plain.err.startswith("ragcli: ")
    assert plain.out == ""
    assert "Traceback" not in plain.err
    error = invoke("--json", *argv) if argv[0] != "config" else plain
    assert error.code == plain.code
    if argv[0] != "config":
        assert said in error.json("error@1")["message"]
    assert plain.code in (2, 3, 4)


def test_an_option_that_is_a_query():
    result = invoke("search", "--frobnicate")
    assert "ragcli search -- --frobnicate" in result.err
    assert invoke("search", "--", "--help").code in (0, 1)


def test_internal_errors(monkeypatch):
    from ragcli.index import reader

    def broken(*_, **__):
        raise RuntimeError("a secret bug")

    monkeypatch.setattr(reader.Reader, "search", broken)
    quiet = invoke("search", "zinc")
    assert quiet.code == 70
    assert "RuntimeError: a secret bug" in quiet.err
    assert "report this" in quiet.err
    assert "Traceback" not in quiet.err
    assert "Traceback" in invoke("search", "zinc", "-v").err
    assert "Traceback" in invoke("search", "zinc", environ={"RAGCLI_DEBUG": "1"}).err
    assert invoke("search", "zinc", "--json").json("error@1")["code"] == "internal"


def test_ctrl_c(monkeypatch):
    from ragcli.index import reader

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(reader.Reader, "search", interrupted)
    result = invoke("search", "zinc", "--json")
    assert result.code == 130
    assert result.json("error@1")["code"] == "interrupted"
    assert invoke("search", "zinc").err == "ragcli: interrupted\n"


def test_a_library_that_prints_does_not_reach_the_data(monkeypatch):
    from ragcli.index import reader

    search = reader.Reader.search

    def chatty(self, *args, **options):
        print("loading weights ...")
        return search(self, *args, **options)

    monkeypatch.setattr(reader.Reader, "search", chatty)
    result = invoke("search", "zinc", "--json")
    result.json("search@1")
    assert "loading weights" in result.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_those_in_the_sources(shell):
    from ragcli.cli.completions import FILES, Shell

    file = Path(__file__).parents[2] / "completions" / FILES[Shell(shell)]
    assert invoke("completions", shell).out == file.read_text(encoding="utf-8")


def test_documents_are_one_line():
    assert "\n" not in dumps({"a": "b\nc"})
