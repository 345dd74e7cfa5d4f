"""What only a process of its own shows: descriptors, signals, codes, sockets."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .harness import process

NO_SOCKETS = """
import socket
def refuse(*a, **k): raise AssertionError('a connection was attempted')
socket.socket.connect = socket.socket.connect_ex = refuse
socket.create_connection = socket.getaddrinfo = refuse
"""
HEAVY = (
    "torch",
    "faiss",
    "llama_cpp",
    "sentence_transformers",
    "onnxruntime",
    "tantivy",
    "numpy",
    "rich",
)
RAGCLI = [sys.executable, "-m", "ragcli"]


def modules(argv, cwd):
    """Modules that a command line imported."""
    code = (
        "import sys, json\nfrom ragcli.cli.app import run\n"
        f"run({argv!r})\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "argv",
    [["--help"], ["ask", "--help"], ["--version"], ["config"], ["completions", "zsh"], ["x"]],
)
def test_light_commands_import_nothing_heavy(argv, tmp_path):
    assert not modules(argv, tmp_path) & set(HEAVY)


def test_completing_imports_nothing_heavy(tmp_path):
    environ = {"_RAGCLI_COMPLETE": "complete_bash", "COMP_WORDS": "ragcli sea", "COMP_CWORD": "1"}
    before = "import atexit, sys\natexit.register(lambda: print(*sys.modules, file=sys.stderr))"
    done = process([], cwd=tmp_path, environ=environ, before=before)
    assert (done.code, done.out.split()) == (0, ["search"])
    assert not set(done.err.split()) & (set(HEAVY) - {"rich"})


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ragcli search --mo", {"--mode"}),
        ("ragcli search --mode d", {"dense"}),
        ("ragcli models p", {"pull"}),
        ("ragcli train q", {"questions"}),
        ("ragcli train questions --per", {"--per-passage"}),
        ("ragcli completions f", {"fish"}),
    ],
)
def test_completions(words, offered, tmp_path):
    position = str(len(words.split()) - 1)
    environ = {"_RAGCLI_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": position}
    done = process([], cwd=tmp_path, environ=environ)
    assert (set(done.out.split()), done.code) == (offered, 0)


def test_bash_completes_by_the_script_in_the_sources(tmp_path):
    script = Path(__file__).parents[2] / "completions" / "ragcli.bash"
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    (tmp_path / "ragcli").write_text(f'#!/bin/sh\nexec {sys.executable} -m ragcli "$@"\n')
    (tmp_path / "ragcli").chmod(0o755)
    line = (
        f"source {script}; COMP_WORDS=(ragcli sea); COMP_CWORD=1; "
        "_ragcli_completion ragcli; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.stdout == "search\n"


def test_search_never_imports_torch(notes):
    loaded = modules(["search", "zinc"], notes)
    assert "onnxruntime" in loaded
    assert not loaded & {"torch", "sentence_transformers", "transformers", "llama_cpp", "rich"}


def test_no_connection_is_attempted(notes, tmp_path):
    (tmp_path / "a.md").write_text("A note about copper.\n")
    for argv in (["index", "."], ["search", "copper"], ["status"], ["models"], ["doctor"]):
        done = process(argv, cwd=tmp_path, before=NO_SOCKETS)
        assert "a connection was attempted" not in done.err
        assert done.code in (0, 1), (argv, done.err)


def test_descriptor_1_carries_nothing_but_data(notes):
    before = "import os, ragcli.index.reader as r\nold = r.Reader.search\n" \
             "def search(*a, **k):\n    os.write(1, b'noise'); os.system('echo more noise')\n" \
             "    return old(*a, **k)\nr.Reader.search = search"  # fmt: skip
    done = process(["search", "zinc", "--json"], cwd=notes, before=before)
    done.json("search@1")
    assert "noise" in done.err
    assert "more noise" in done.err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize("command", ["search zinc --json", "status", "index . -q", "search"])
def test_closed_descriptors(notes, copied, closed, command):
    line = f"{sys.executable} -m ragcli {command} {closed}"
    done = subprocess.run(
        ["sh", "-c", line], cwd=copied, capture_output=True, text=True, check=False
    )
    assert (
        done.returncode
        == {"search zinc --json": 0, "status": 0, "index . -q": 5, "search": 2}[command]
    )
    assert "Traceback" not in done.stderr
    if done.stdout and "--json" in command:
        json.loads(done.stdout)


def test_a_reader_that_goes_away(notes):
    """Like grep: no message, and the code that a shell gives for SIGPIPE."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*RAGCLI, "search", "zinc", "--json"], cwd=notes, stdout=write, stderr=subprocess.PIPE,
        check=False,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk(notes):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*RAGCLI, "search", "zinc"], cwd=notes, stdout=full, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("ragcli: cannot write to standard output: No space left")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("argv", [["--version"], ["search", "--help"], ["methods", "--json"]])
def test_a_full_disk_is_told_whatever_is_written(argv, tmp_path):
    """The last one is more than a buffer holds."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*RAGCLI, *argv], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "ragcli: cannot write to standard output: No space left on device\n"


def test_other_locales_get_utf8(notes):
    done = process(
        ["search", "lead", "-k", "1"], cwd=notes, environ={"LC_ALL": "C", "PYTHONUTF8": "0"}
    )
    assert done.out.startswith("🐘.md:1: ")


def test_undecodable_names(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("The cafe note says brass.\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert process(["index", "."], cwd=tmp_path).code == 0
    hit = process(["search", "brass", "--json"], cwd=tmp_path).json("search@1")["hits"][0]
    assert hit["path"].endswith("caf\\xe9.md")
    assert Path(os.fsdecode(bytes.fromhex(hit["path_bytes"]))).exists()
    assert "caf\\xe9.md:1" in process(["search", "brass"], cwd=tmp_path).out
    shown = process(["show", b"caf\xe9.md", "--json"], cwd=tmp_path).json("show@1")
    assert shown["path_bytes"] == hit["path_bytes"]
    files = process(["status", "--files", "--json"], cwd=tmp_path).json("status@1")["files"]
    assert files[0]["path_bytes"] == hit["path_bytes"]


@pytest.mark.parametrize("json_wanted", [False, True])
def test_interrupted_while_running(notes, json_wanted):
    before = "import time, ragcli.index.reader as r\n" \
             "def search(*a, **k):\n    print('ready', file=__import__('sys').stderr, flush=True)\n" \
             "    time.sleep(60)\nr.Reader.search = search"  # fmt: skip
    code = f"{before}\nfrom ragcli.__main__ import main\nmain()"
    argv = [sys.executable, "-c", code, "search", "zinc", *(["--json"] if json_wanted else [])]
    run = subprocess.Popen(
        argv, cwd=notes, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stderr is not None
    assert run.stderr.readline() == "ready\n"
    time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert err == "ragcli: interrupted\n"
    assert (json.loads(out)["code"] == "interrupted") if json_wanted else out == ""
