"""A folder with a document and a saved answer; files are read in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cite.saved import answer, citation, sentence
from tests.cli.verifying.house import CODE, DOOR, SAID, save
from tests.index.conftest import InlineExtractor


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
