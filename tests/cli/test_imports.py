"""Fast start: what each command may import, checked in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HEAVY = {
    "torch", "transformers", "sentence_transformers", "llama_cpp", "faiss", "onnxruntime",
    "tokenizers", "tantivy", "numpy", "huggingface_hub", "pysbd", "pypdfium2", "docx", "lxml",
    "rich", "jinja2", "asyncio",
}  # fmt: skip
NEVER = {"torch", "transformers", "sentence_transformers", "huggingface_hub"}
SCRIPT = """
import sys
from ragcli.cli.app import run
code = run(sys.argv[1:])
print(code, *sorted(sys.modules), file=sys.stderr)
"""


def imported(argv: Sequence[str], folder: Path | None = None) -> tuple[int, set[str]]:
    """Exit code and the modules that are loaded when the command ends."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *argv],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    code, *modules = done.stderr.splitlines()[-1].split()
    return int(code), set(modules)


@pytest.mark.parametrize(
    "argv",
    [
        ["--help"],
        ["--version"],
        ["ask", "--help"],
        ["models", "--help"],
        ["train", "organizer", "--help"],
        ["train", "questions", "--help"],
        ["train", "analyzer", "--help"],
    ],
)
def test_help_imports_nothing_heavy(argv: list[str]) -> None:
    code, modules = imported(argv)
    assert code == 0
    assert not HEAVY & modules


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("indexed")
    (folder / "a.txt").write_text("The bridge over the river Omm was built in 1904.")
    code, _ = imported(["index", "a.txt"], folder)
    assert code == 0
    return folder


@pytest.mark.model
@pytest.mark.parametrize(
    "argv",
    [
        ["search", "when was the bridge built"],
        ["search", "--mode", "lexical", "bridge"],
        ["search", "--mode", "dense", "bridge"],
        ["ask", "When was the bridge built?", "--max-tokens", "4"],
        ["show", "a.txt"],
        ["status"],
        ["doctor"],
        ["models"],
    ],
)
def test_answering_never_imports_torch(
    indexed: Path, argv: list[str], bundled_model: Path, bundled_encoder_dir: Path
) -> None:
    code, modules = imported(argv, indexed)
    assert code in (0, 1)  # 1: abstained
    assert not NEVER & modules


@pytest.mark.model
def test_lexical_search_loads_no_encoder(indexed: Path, bundled_encoder_dir: Path) -> None:
    _, modules = imported(["search", "--mode", "lexical", "bridge"], indexed)
    assert not {"onnxruntime", "tokenizers"} & modules


@pytest.mark.model
def test_indexing_what_is_unchanged_loads_no_encoder(
    indexed: Path, bundled_encoder_dir: Path
) -> None:
    _, modules = imported(["index", "a.txt"], indexed)
    assert not {"onnxruntime", "tokenizers", "torch", "sentence_transformers"} & modules
