"""Awkward inputs that people meet: edits and deletions, other encoders, decomposed letters, links."""

from __future__ import annotations

import json
import os
import shutil
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import ragcli.encoders
from ragcli.encoders.base import Encoder, EncoderIdentity
from tests.index.conftest import InlineExtractor, WordsEncoder

from .harness import Result, invoke

MODES = ("hybrid", "lexical", "dense")


class Counting:
    """The encoder, and how many passages it was given while indexing."""

    def __init__(self, inner: Encoder) -> None:
        self._inner, self.identity = inner, inner.identity
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        return self._inner.encode(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)


@pytest.fixture(scope="module")
def bundled(bundled_encoder_dir: Path) -> Encoder:
    from ragcli.encoders import open_encoder, resolve_encoder

    ref = resolve_encoder(None)
    assert ref.folder == bundled_encoder_dir
    return open_encoder(ref, threads=1)


@pytest.fixture
def encoder(bundled: Encoder, monkeypatch: pytest.MonkeyPatch) -> Counting:
    """The bundled encoder, loaded once for all commands of a test; it counts what it encodes."""
    counting = Counting(bundled)
    monkeypatch.setattr(ragcli.encoders, "open_encoder", lambda *_, **__: counting)
    return counting


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory; files are read in this process."""
    monkeypatch.chdir(tmp_path)
    for module in ("ragcli.index.run", "ragcli.cite.current"):
        monkeypatch.setattr(f"{module}.Extractor", InlineExtractor)
    return tmp_path


def ok(*argv: str) -> Result:
    result = invoke(*argv)
    assert result.code == 0, result.err
    return result


# 05: deleted and edited files

NORTH, SOUTH = "north door code", "south door code"


@pytest.fixture
def doors(here: Path, encoder: Counting) -> Path:
    folder = here / "05"
    folder.mkdir()
    (folder / "door.md").write_text("The north door code is 4711.\n")
    (folder / "gone.md").write_text("The south door code is 0815.\n")
    ok("index", "05")
    encoder.encoded.clear()
    return folder


def exchange(file: Path) -> None:
    """New content under the old size and modification time: `touch -r`."""
    before = file.stat()
    file.write_text(file.read_text().replace("4711", "9999"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def rewrite(file: Path) -> None:
    file.write_text("The north door code is 9999 now.\n")


def delete(file: Path) -> None:
    file.unlink()


def move(file: Path) -> None:
    (file.parent / "n").mkdir()
    file.rename(file.parent / "n" / file.name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (rewrite, "1 file changed since indexing (05/door.md); `ragcli index PATH`"),
        (exchange, "1 file changed since indexing (05/door.md)"),
        (delete, "1 file changed or gone since indexing (05/door.md is gone)"),
        (move, "1 file changed or gone since indexing (05/door.md is gone)"),
    ],
)
@pytest.mark.model
def test_05_a_hint_before_the_next_index(doors: Path, change, said: str) -> None:
    assert ok("search", NORTH).err == ""
    change(doors / "door.md")
    for mode in MODES:
        assert said in ok("search", NORTH, "--mode", mode).err
    found = ok("search", NORTH, "--json").json("search@1")
    assert len(found["warnings"]) == 1
    assert said in found["warnings"][0]
    result = ok("ask", "--verbatim", "What is the north door code?", "--json")
    answer = result.json("answer@1")
    word = "changed" if change in (rewrite, exchange) else "is gone"
    assert answer["warnings"] == [f"door.md {word} since it was indexed"]
    assert answer["warnings"][0] in result.err


@pytest.mark.model
def test_05_no_hint_for_a_file_that_was_only_touched(doors: Path) -> None:
    os.utime(doors / "door.md")
    shutil.copy2(doors / "gone.md", doors / "copy.md")
    (doors / "copy.md").replace(doors / "gone.md")
    assert ok("search", NORTH).err == ""


def traces(*secrets: str) -> list[str]:
    """Everything that ragcli says about the doors that holds one of the secrets."""
    queries = (NORTH, SOUTH, *secrets)
    commands = [["search", query, "--mode", mode, "--json"] for query in queries for mode in MODES]
    commands += [["search", query] for query in queries]
    commands += [["ask", "--verbatim", f"What is the {one}?", "--json"] for one in (NORTH, SOUTH)]
    commands += [["status", "--files", "--json"], ["show", "05/n/door.md"], ["show", "05/door.md"]]
    said = [invoke(*command).out for command in commands]
    return [out for out in said for one in secrets if one in out.replace(f'"query": "{one}"', "")]


@pytest.mark.parametrize("change", [rewrite, exchange])
@pytest.mark.model
def test_05_no_trace_after_the_next_index(doors: Path, encoder: Counting, change) -> None:
    assert "4711" in ok("search", NORTH).out
    (doors / "gone.md").unlink()
    change(doors / "door.md")
    assert "1 removed" in ok("index", "05").out
    assert "9999" in ok("search", NORTH).out
    assert traces("4711", "0815") == []
    assert ok("search", NORTH).err == ""
    encoder.encoded.clear()
    move(doors / "door.md")
    assert "1 moved" in ok("index", "05").out
    assert encoder.encoded == []
    assert ok("search", NORTH).out.startswith("05/n/door.md:1: The north door code is 9999")
    assert invoke("show", "05/door.md").code == 1


@pytest.mark.model
def test_05_the_saved_answer(doors: Path) -> None:
    asked = ok("ask", "--verbatim", "What is the north door code?", "--json")
    Path("answer.json").write_text(asked.out)
    move(doors / "door.md")
    assert "moved" in ok("verify", "answer.json").out
    exchange(doors / "n" / "door.md")
    assert invoke("verify", "answer.json").code == 6


# 19: another encoder


class Fake(WordsEncoder):
    """Vectors that depend on the encoder's files."""

    def __init__(self, identity: EncoderIdentity) -> None:
        super().__init__(identity.name, identity.dimension)
        self.identity = identity


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders made by `model_folder` are encoders."""

    def opened(ref: ragcli.encoders.EncoderRef, **_: object) -> Fake:
        return Fake(ref.identity)

    monkeypatch.setattr(ragcli.encoders, "open_encoder", opened)


def model_folder(folder: Path, width: int, weights: bytes) -> str:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "modules.json").write_text("[]")
    (folder / "config.json").write_text(json.dumps({"hidden_size": width}))
    pooling = {"word_embedding_dimension": width}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    (folder / "model.safetensors").write_bytes(weights)
    return str(folder)


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize(("width", "same_name"), [(32, False), (64, False), (64, True)])
def test_19_another_encoder_is_refused(here: Path, width: int, same_name: bool) -> None:
    (here / "notes.md").write_text("The boiler is in the cellar.\n")
    first = model_folder(here / "models" / "alpha", 64, b"first")
    ok("index", "notes.md", "--encoder", first)
    before = ok("search", "boiler", "--encoder", first, "--json").json("search@1")["hits"]
    if same_name:
        shutil.copytree(first, here / "kept")
    other = model_folder(here / "models" / ("alpha" if same_name else "beta"), width, b"second")
    for command in (["index", "notes.md"], ["search", "boiler"], ["search", "boiler", "--mode", "dense"],
                    ["ask", "--verbatim", "Where is the boiler?"]):  # fmt: skip
        result = invoke(*command, "--encoder", other, "--json")
        assert result.code == 3, command
        error = result.json("error@1")
        assert error["code"] == "bad-index"
        assert error["message"].count(" components)") == 2  # both, with their hashes
        assert "alpha" in error["message"]
        assert ("beta" in error["message"]) != same_name
        assert "ragcli index --rebuild" in error["hint"]
    # Nothing is dropped unasked, and what needs no vectors goes on.
    assert ok("search", "boiler", "--mode", "lexical", "--encoder", other).out
    if same_name:
        shutil.rmtree(first)
        shutil.copytree(here / "kept", first)
    assert ok("search", "boiler", "--encoder", first, "--json").json("search@1")["hits"] == before
    ok("index", "--rebuild", "notes.md", "--encoder", other)
    assert ok("search", "boiler", "--encoder", other, "--mode", "dense").out


# 29: composed and decomposed letters


@pytest.mark.model
@pytest.mark.usefixtures("encoder")
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_29_composed_and_decomposed_letters_meet(here: Path, form: str) -> None:
    folder = here / "29"
    folder.mkdir()
    name = unicodedata.normalize("NFD", "über.md")
    text = unicodedata.normalize("NFD", "Das Prüfstück hat die Größe neun.\n")
    (folder / name).write_text(text)
    (folder / "plain.md").write_text("Das Lager hat die Größe zwei.\n")
    ok("index", "29")
    for mode in MODES:
        query = unicodedata.normalize(form, "Prüfstück")
        first = ok("search", query, "--mode", mode).out.splitlines()[0]
        assert "neun" in first
        path = first.partition(":")[0]
        assert Path(path).read_text() == text
        assert Path(path).name == name  # the name's bytes as they are
    question = unicodedata.normalize(form, "Welche Größe hat das Prüfstück?")
    plain = ("--method", "plain", "--verbatim", "-k", "1")
    answer = ok("ask", *plain, question, "--json").json("answer@1")
    assert "neun" in answer["answer"]
    assert "zwei" not in answer["answer"]
    Path("answer.json").write_text(json.dumps(answer))
    assert "1 fresh" in ok("verify", "answer.json").out


# 31: links


@pytest.mark.model
@pytest.mark.usefixtures("encoder")
def test_31_links_are_not_followed(here: Path) -> None:
    outside, folder = here / "31_linked", here / "31"
    outside.mkdir()
    (folder / "a").mkdir(parents=True)
    (outside / "tool.md").write_text("The torque is 12 Nm.\n")
    (folder / "a" / "own.md").write_text("The own note says 7 Nm.\n")
    (folder / "a" / "up").symlink_to("..")
    (folder / "linked").symlink_to(outside)
    (folder / "tool.md").symlink_to(outside / "tool.md")
    (folder / "own.md").symlink_to(folder / "a" / "own.md")
    assert ok("index", "31").out.startswith("1 file: 1 indexed")
    assert "torque" not in ok("search", "torque").out
    # A link that is named is meant: its target is indexed, under its own path, once.
    ok("index", "31/linked", "31/tool.md", "31")
    assert ok("search", "torque", "-k", "1").out.startswith("31_linked/tool.md:1: ")
    files = ok("status", "--files", "--json").json("status@1")["files"]
    assert sorted(Path(one["path"]).name for one in files) == ["own.md", "tool.md"]
