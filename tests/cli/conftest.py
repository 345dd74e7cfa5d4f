"""A small folder of documents, indexed once with the bundled encoder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .harness import process

pytest.register_assert_rewrite(f"{__package__}.citing")  # explained as in a file of tests

NOTES = {
    "boiler.md": "# Boiler\n\n## Limits\n\nThe boiler's pressure limit is 3 bar. It is drained in October.\n",
    "keepers.txt": "Mira Oskan was the first keeper of the Sandholm light. She kept bees.\n",
    "my file.md": "The blank note says tin.\n",
    "[b] x.md": "The bracket note says zinc.\n",
    "🐘.md": "The elephant note says lead.\n",
}


@pytest.fixture(scope="session")
def notes(tmp_path_factory: pytest.TempPathFactory, bundled_encoder_dir: Path) -> Path:
    """A folder with notes and their index. Tests that change files take a copy."""
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 not really")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    done = process(["index", "."], cwd=folder)
    assert done.code == 5, done.err
    return folder


@pytest.fixture
def copied(notes: Path, tmp_path: Path) -> Path:
    """The same folder, to be changed. File times stay, so that nothing looks changed."""
    shutil.copytree(notes, tmp_path / "copy", copy_function=shutil.copy2)
    return tmp_path / "copy"


@pytest.fixture
def inside(notes: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notes as the working directory."""
    monkeypatch.chdir(notes)
    return notes


@pytest.fixture(scope="session")
def cases(shared_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The awkward inputs, a folder a case."""
    folder = tmp_path_factory.mktemp("cases")
    script = shared_files / "make_cases.py"
    subprocess.run([sys.executable, str(script), str(folder)], check=True, capture_output=True)
    return folder
