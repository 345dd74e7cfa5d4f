"""`ragcli models`: list, info, use, pull, through the whole command line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from standin_hub import Hub, connected
from standin_models import gguf, write

from ragcli.cli.app import run
from ragcli.cli.environment import Environment
from ragcli.schemas import load

MODEL = gguf(weights=os.urandom(5000))
REPOSITORIES = {
    "owner/one-GGUF": {"one.Q4_K_M.gguf": MODEL},
    "owner/two-GGUF": {"two.Q4_K_M.gguf": MODEL, "two.Q8_0.gguf": gguf(name="Other")},
}


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    def json(self, schema: str = "models@1") -> Any:
        document = json.loads(self.out)
        jsonschema.validate(document, load(schema))
        return document


Cli = Callable[..., Result]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs a command line for a user whose folders are empty."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("RAGCLI_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def cli(*argv: str) -> Result:
        out, err = io.StringIO(), io.StringIO()
        code = run(argv, Environment(io.StringIO(), out, err, os.environ))
        return Result(code, out.getvalue(), err.getvalue())

    return cli


@pytest.fixture
def hub(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with connected(REPOSITORIES, monkeypatch) as hub:
        yield hub


def in_use(result: Result) -> list[str]:
    return [model["name"] for model in result.json()["models"] if model["current"]]


@pytest.mark.model
def test_list_is_the_default_and_marks_what_is_in_use(cli: Cli, bundled_model: Path) -> None:
    result = cli("models")
    assert result == cli("models", "list")
    assert (result.code, result.err) == (0, "")
    assert "*  SmolLM2-135M-Instruct.Q4_1  98.4 MB  llama Q4_1  135M  bundled" in result.out
    assert "*  all-MiniLM-L6-v2" in result.out


@pytest.mark.model
@pytest.mark.parametrize(
    "argv",
    [
        ("models", "--json"),
        ("--json", "models"),
        ("models", "list", "--json"),
        ("--json", "models", "list"),
    ],
)
def test_json_wherever_the_flag_stands(
    cli: Cli, argv: tuple[str, ...], bundled_model: Path
) -> None:
    models = cli(*argv).json()["models"]
    assert [(m["kind"], m["source"], m["current"]) for m in models] == [
        ("generator", "bundled", True),
        ("encoder", "bundled", True),
    ]
    assert models[0]["path"] == str(bundled_model)


@pytest.mark.model
def test_info(cli: Cli, bundled_model: Path) -> None:
    result = cli("models", "info", "smol")
    assert result.code == 0
    assert "134,515,008" in result.out
    assert str(bundled_model) in result.out
    [row] = cli("models", "info", "smol", "--json").json()["models"]
    assert row["parameters"] == 134_515_008
    assert row["chat_template"] is True
    [row] = cli("models", "info", "all-mini", "--json").json()["models"]
    assert row["kind"] == "encoder"


def test_hostile_names_never_reach_the_terminal_raw(cli: Cli, tmp_path: Path) -> None:
    hostile = gguf(name="\x1b]0;owned\x07", general_license="\x1b[2J")
    path = write(tmp_path / "home/.lmstudio/models/p/r/\x1b[31mred.gguf", hostile)
    for argv in (("models",), ("models", "info", str(path)), ("models", "info", "nothing")):
        result = cli(*argv)
        assert "\x1b" not in result.out + result.err
        assert "\x07" not in result.out + result.err
    assert "\x1b" not in cli("models", "--json").out


def test_a_damaged_model_is_listed_as_such(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path / "home/.lmstudio/models/p/r/torn.gguf", gguf()[:200])
    line = next(line for line in cli("models").out.splitlines() if "torn" in line)
    assert "unusable" in line
    [row] = cli("models", "info", str(path), "--json").json()["models"]
    assert "ends too early" in row["problem"]


def test_use_writes_the_users_configuration(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "home/.lmstudio/models/p/r/Qwen-Tiny.gguf")
    result = cli("models", "use", "qwen")
    assert (result.code, result.out) == (0, "")
    assert "model Qwen-Tiny set in" in result.err
    assert 'model = "Qwen-Tiny"' in (tmp_path / "config/config.toml").read_text()
    assert "Qwen-Tiny" in in_use(cli("models", "--json"))


def test_use_of_a_path_stores_where_it_is(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "work/mine.gguf")
    assert cli("models", "use", "./mine.gguf").code == 0
    assert str(tmp_path / "work/mine.gguf") in (tmp_path / "config/config.toml").read_text()
    assert "mine" in in_use(cli("models", "--json"))
    (tmp_path / "work/mine.gguf").unlink()
    gone = cli("models")
    assert gone.code == 0  # the list still says what else there is
    assert "the configured model: no such model file" in gone.err


def test_a_file_that_cannot_be_used_is_not_chosen(cli: Cli, tmp_path: Path) -> None:
    broken = write(tmp_path / "work" / "broken.gguf", MODEL[:40])
    result = cli("models", "use", str(broken))
    assert result.code == 4
    assert "not a usable GGUF model" in result.err
    assert not (tmp_path / "config" / "config.toml").exists()


def test_use_of_an_encoder(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "enc"
    write(folder / "modules.json", b"[]")
    write(folder / "model.safetensors", b"0")
    result = cli("models", "use", str(folder))
    assert result.code == 0
    assert "index --rebuild" in result.err
    assert f'encoder = "{folder}"' in (tmp_path / "config/config.toml").read_text()
    assert "enc" in in_use(cli("models", "--json"))


def test_use_of_an_encoder_of_the_cache(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "home/.cache/huggingface/hub/models--owner--mini/snapshots/c"
    write(folder / "modules.json", b"[]")
    write(folder / "model.safetensors", b"0")
    assert cli("models", "use", "owner/mini").code == 0
    assert 'encoder = "owner/mini"' in (tmp_path / "config/config.toml").read_text()
    assert "owner/mini" in in_use(cli("models", "--json"))


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (("models", "use", "nothing-like-it"), 4, "no model called"),
        (("models", "use", "t"), 2, "several models"),
        (("models", "use", ""), 2, "empty"),
        (("models", "info", "./none.gguf"), 4, "no such model file"),
        (("models", "pull", "./none.gguf"), 4, "no such model file"),
        (("models", "use"), 2, "NAME"),
        (("models", "delete", "x"), 2, "No such command"),
    ],
)
def test_errors(cli: Cli, tmp_path: Path, argv: tuple[str, ...], code: int, message: str) -> None:
    for name in ("tiny-a", "tiny-b"):
        write(tmp_path / f"home/.lmstudio/models/p/r/{name}.gguf")
    result = cli(*argv)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    error = cli("--json", *argv)
    assert error.code == code
    assert message in error.json("error@1")["message"]


def test_pull_then_use(cli: Cli, hub: Hub, tmp_path: Path) -> None:
    result = cli("models", "pull", "owner/one-GGUF")
    target = tmp_path / "cache/models/owner/one-GGUF/one.Q4_K_M.gguf"
    assert (result.code, result.out) == (0, f"{target}\n")
    assert result.err == "use it with: ragcli models use one.Q4_K_M\n"  # no bar in a pipe
    assert target.read_bytes() == MODEL
    assert cli("models", "use", "one").code == 0
    assert "one.Q4_K_M" in in_use(cli("models", "--json"))


def test_pull_json_and_quiet(cli: Cli, hub: Hub) -> None:
    result = cli("models", "pull", "owner/two-GGUF", "--file", "q8", "--json", "--quiet")
    [row] = result.json()["models"]
    assert (row["name"], row["source"], row["title"]) == ("two.Q8_0", "pulled", "Other")
    assert result.err == ""


def test_pull_errors_are_documents_too(cli: Cli, hub: Hub) -> None:
    result = cli("models", "pull", "owner/two-GGUF", "--json")
    assert result.code == 2
    assert "two.Q4_K_M" in result.json("error@1")["message"]
    result = cli("models", "pull", "owner/one-GGUF", "--sha256", "0" * 64)
    assert (result.code, result.out) == (4, "")


def test_pull_of_a_local_file(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path / "work/local.gguf")
    assert cli("models", "pull", "local.gguf").code == 0
    assert [
        m["source"] for m in cli("models", "--json").json()["models"] if m["name"] == "local"
    ] == ["pulled"]


def test_a_bar_is_drawn_on_a_terminal_only_on_stderr(cli: Cli, hub: Hub) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out, err = io.StringIO(), Terminal()
    code = run(
        ["models", "pull", "owner/one-GGUF"],
        Environment(io.StringIO(), out, err, {**os.environ, "TERM": "xterm"}),
    )
    assert code == 0
    assert "one.Q4_K_M" in err.getvalue()
    assert "\x1b" in err.getvalue()
    assert out.getvalue().count("\n") == 1


def test_nothing_but_pull_opens_a_socket(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was attempted")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert cli("models").code == 0
    assert cli("models", "info", "absent").code == 4
    assert cli("doctor").code in (0, 4)


def test_listing_imports_nothing_heavy() -> None:
    script = (
        "import sys; from ragcli.cli.app import run; run(['models']);"
        "heavy = {'torch', 'llama_cpp', 'faiss', 'onnxruntime', 'sentence_transformers', 'huggingface_hub'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.splitlines()[-1] == "[]"
