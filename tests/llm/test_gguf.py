"""The header reader: right on real files, bounded and typed on hostile ones."""

from __future__ import annotations

import os
import struct
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standin_models import gguf, pair, string, write

from ragcli.errors import ModelError
from ragcli.llm.gguf import FILE_TYPES, is_gguf, read_architecture, read_info

HEAD = b"GGUF" + struct.pack("<I", 3)


def test_reads_what_a_model_says(tmp_path: Path) -> None:
    info = read_info(write(tmp_path / "m.gguf"))
    assert (info.name, info.architecture, info.quantisation) == ("Tiny", "llama", "Q4_K_M")
    assert (info.context, info.layers, info.vocabulary, info.parameters) == (2048, 2, 3, 16)
    assert info.chat_template


@pytest.mark.model
def test_agrees_with_the_gguf_package_on_the_bundled_model(bundled_model: Path) -> None:
    gguf_package = pytest.importorskip("gguf")
    reader = gguf_package.GGUFReader(bundled_model)
    info = read_info(bundled_model)

    def field(name: str) -> object:
        return reader.get_field(name).contents()

    assert info.architecture == field("general.architecture")
    assert info.name == field("general.name")
    assert info.context == field("llama.context_length")
    assert info.vocabulary == len(field("tokenizer.ggml.tokens"))  # type: ignore[arg-type]
    assert info.parameters == sum(int(tensor.n_elements) for tensor in reader.tensors)
    assert info.quantisation == "Q4_1"


def test_names_of_file_types_are_those_of_the_gguf_package() -> None:
    gguf_package = pytest.importorskip("gguf")
    known = {member.value: member.name for member in gguf_package.constants.LlamaFileType}
    for number, name in FILE_TYPES.items():
        if number in known:  # an older package knows fewer
            assert known[number].removeprefix("ALL_").removeprefix("MOSTLY_") == name


def test_strings_are_one_printable_line(tmp_path: Path) -> None:
    hostile = "x\x1b[31mred\x1b[0m\ny\u202e" + "z" * 1000
    info = read_info(write(tmp_path / "m.gguf", gguf(name=hostile)))
    assert info.name.startswith("x[31mred[0m yz")
    assert info.name.isprintable()
    assert len(info.name) <= 200


HOSTILE = {
    "empty": b"",
    "other": b"PK\x03\x04 and so on",
    "magic only": b"GGUF",
    "version 1": b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
    "big-endian": b"GGUF" + struct.pack(">IQQ", 3, 0, 0),
    "many pairs": HEAD + struct.pack("<QQ", 0, 2**63),
    "many tensors": HEAD + struct.pack("<QQ", 2**63, 0),
    "long key": HEAD + struct.pack("<QQQ", 0, 1, 2**40),
    "long string": HEAD + struct.pack("<QQ", 0, 1) + string("k") + struct.pack("<IQ", 8, 2**60),
    "long array": HEAD + struct.pack("<QQ", 0, 1) + string("k") + struct.pack("<IIQ", 9, 4, 2**62),
    "string array": HEAD + struct.pack("<QQ", 0, 1) + string("k") + struct.pack("<IIQ", 9, 8, 2**40),
    "nested array": HEAD + struct.pack("<QQ", 0, 1) + string("k") + struct.pack("<IIQ", 9, 9, 1),
    "unknown type": HEAD + struct.pack("<QQ", 0, 1) + string("k") + struct.pack("<I", 77),
    "dimensions": HEAD + struct.pack("<QQ", 1, 0) + string("t") + struct.pack("<I", 2**31),
    "weights": HEAD + struct.pack("<QQ", 1, 0) + string("t")
    + struct.pack("<IQQQQIQ", 4, *[2**60] * 4, 0, 0),
    "cut": gguf()[:150],
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_are_one_typed_error(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "m.gguf", HOSTILE[name])
    tracemalloc.start()
    with pytest.raises(ModelError, match="not a usable GGUF"):
        read_info(path)
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()
    assert isinstance(read_architecture(path), str)


@settings(max_examples=300, deadline=1000)
@given(st.data())
def test_any_damage_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    original = gguf(weights=b"")
    damaged = bytearray(original[: data.draw(st.integers(0, len(original)))])
    for _ in range(data.draw(st.integers(0, 8))):
        if damaged:
            place = data.draw(st.integers(0, len(damaged) - 1))
            damaged[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.gguf"
    path.write_bytes(bytes(damaged) + data.draw(st.binary(max_size=64)))
    with suppress(ModelError):
        info = read_info(path)
        assert all(text.isprintable() for text in (info.name, info.architecture, info.license))


@settings(max_examples=200, deadline=1000)
@given(st.binary(max_size=300))
def test_any_pairs_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "pairs.gguf"
    path.write_bytes(HEAD + struct.pack("<QQ", 1, 2) + pair("general.architecture", "x") + tail)
    assert read_architecture(path) == "x"
    with suppress(ModelError):
        assert read_info(path).architecture == "x"


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    fifo = tmp_path / "f.gguf"
    os.mkfifo(fifo)
    assert not is_gguf(fifo)  # and does not wait for a writer
    assert not is_gguf(tmp_path)
    assert not is_gguf(tmp_path / "none")
    with pytest.raises(ModelError, match="not a regular file"):
        read_info(fifo)
