"""Files that are no usable model, and what llama.cpp may print."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import gguf
import pytest

from ragcli.errors import ModelError, UsageError
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator
from tests.llm import tiny


def missing(path: Path, _model: Path) -> None:
    assert not path.exists()


def folder(path: Path, _model: Path) -> None:
    path.mkdir()


def empty(path: Path, _model: Path) -> None:
    path.write_bytes(b"")


def text(path: Path, _model: Path) -> None:
    path.write_text("a model, honestly")


def header_only(path: Path, model: Path) -> None:
    path.write_bytes(model.read_bytes()[:1000])


def truncated(path: Path, model: Path) -> None:
    path.write_bytes(model.read_bytes()[:-5000])


def garbage(path: Path, _model: Path) -> None:
    path.write_bytes(b"GGUF" + bytes(range(256)) * 8)


def unknown(path: Path, _model: Path) -> None:
    writer = gguf.GGUFWriter(path, "perceptron-1958")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def layers(count: int) -> Callable[[Path, Path], None]:
    def claimed(path: Path, model: Path) -> None:
        key = b"llama.block_count" + struct.pack("<I", 4)  # uint32
        data = model.read_bytes()
        assert data.count(key) == 1
        path.write_bytes(
            data.replace(key + struct.pack("<I", tiny.LAYERS), key + struct.pack("<I", count))
        )

    return claimed


CASES: list[tuple[Callable[[Path, Path], None], str]] = [
    (missing, "there is no model file"),
    (folder, "cannot read the model file"),
    (empty, "is not a GGUF model"),
    (text, "is not a GGUF model"),
    (header_only, "cannot load"),
    (truncated, "incomplete"),
    (garbage, "cannot load"),
    (unknown, "unknown model architecture"),
    (layers(0), "it claims 0 layers"),
    (layers(4_000_000), "it claims 4000000 layers"),
    (layers(4), "cannot load"),
]


@pytest.mark.parametrize(
    ("damage", "message"), CASES, ids=lambda case: getattr(case, "__name__", "")
)
def test_unusable_files(
    damage: Callable[[Path, Path], None],
    message: str,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "model.gguf"
    damage(path, tiny.write_llama(tmp_path / "good.gguf"))
    with pytest.raises(ModelError, match=message) as caught:
        open_generator(path)
    assert caught.value.hint
    assert "\n" not in caught.value.message
    assert str(path) in caught.value.message
    assert capfd.readouterr() == ("", "")


def test_a_context_that_memory_cannot_hold(tmp_path: Path) -> None:
    with (
        open_generator(tiny.write_llama(tmp_path / "m.gguf"), threads=1) as generator,
        pytest.raises(ModelError, match="no memory for a context of 4000000000 tokens"),
    ):
        generator.session(1, n_ctx=4_000_000_000)


@pytest.mark.parametrize(
    ("wanted", "layers"), [(None, None), ((0,), (0,)), ((-1, 0), (0, 2)), ((1, -2), (1,))]
)
def test_layers_count_from_either_end(
    wanted: tuple[int, ...] | None, layers: tuple[int, ...] | None, tmp_path: Path
) -> None:
    with open_generator(tiny.write_llama(tmp_path / "m.gguf"), tap_layers=wanted) as generator:
        assert layers is None or generator.tap_layers == layers
        assert all(0 <= layer < tiny.LAYERS for layer in generator.tap_layers)


@pytest.mark.parametrize("wanted", [(3,), (-4,), ()])
def test_layers_that_are_not_there(wanted: tuple[int, ...], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="layers 0 to 2"):
        open_generator(tiny.write_llama(tmp_path / "m.gguf"), tap_layers=wanted)


def test_flash_attention_has_no_tap_and_says_so(tmp_path: Path) -> None:
    from ragcli.llm.base import Feed

    with open_generator(tiny.write_llama(tmp_path / "m.gguf"), threads=1, flash=True) as generator:
        assert not generator.tap_available
        assert "flash" in generator.tap_reason
        with generator.session(1) as session:
            session.start({0: [1, 2, 3]})
            assert session.advance([Feed(0)])[0].attention is None


@pytest.mark.parametrize("branches", [0, 201])
def test_branches_have_a_limit(branches: int, tmp_path: Path) -> None:
    with (
        open_generator(tiny.write_llama(tmp_path / "m.gguf")) as generator,
        pytest.raises(ValueError, match="1 to 200 branches"),
    ):
        generator.session(branches)


@pytest.mark.model
@pytest.mark.parametrize("verbose", [False, True])
def test_llama_prints_only_when_asked(bundled_model: Path, verbose: bool) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from ragcli.llm.llama import open_generator; from ragcli.llm.base import Feed\n"
        f"g = open_generator(Path(sys.argv[1]), threads=1, verbose={verbose})\n"
        "s = g.session(2, n_ctx=256); s.start({0: [1, 2, 3]}); s.advance([Feed(0)])\n"
        "s.close(); g.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, os.fspath(bundled_model)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout == ""
    assert bool(done.stderr) == verbose


@pytest.mark.model
def test_identity(generator: LlamaGenerator, bundled_model: Path) -> None:
    identity = generator.identity
    assert identity.path == bundled_model
    assert identity.size == bundled_model.stat().st_size
    assert identity.architecture == "llama"
    assert (identity.parameters["n_layer"], identity.parameters["n_ctx_train"]) == (30, 8192)
    assert len(identity.sha256) == 64
    assert generator.limit == 8192
