"""Places in files and missing parts: from what a loader gives to what a reader gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcli.render.terminal import place
from ragcli.sources import formats
from ragcli.types import Block, Extracted, FileStatus
from tests.index.conftest import Bench

TEXT = "Pens cost two marks.\nInk costs five marks.\nPaper is free."
ENDS = (20, 42, 57)


def _sheet(data: bytes, ending: str) -> Extracted:
    starts = (0, 21, 43)
    return Extracted(
        TEXT,
        "text",
        tuple(Block(a, b, "table") for a, b in zip(starts, ENDS, strict=True)),
        places=((21, "Prices!A2"), (43, "Prices!A3")),
        missing=("sheet Old is damaged",),
    )


@pytest.fixture
def sheet(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(formats.FORMATS, "text", _sheet)
    return bench.write("prices.txt", TEXT)


def test_each_sentence_has_the_place_it_stands_at(bench: Bench, sheet: Path) -> None:
    bench.update()
    with bench.open() as reader:
        document = next(iter(reader.documents()))
        (passage,) = reader.passages(document.id)
    assert [one.place for one in passage.sentences] == ["", "Prices!A2", "Prices!A3"]
    assert passage.place == ""
    assert place(document, passage.sentences[1]).endswith("prices.txt:2 (Prices!A2)")


def test_a_missing_part_makes_a_file_partial(bench: Bench, sheet: Path) -> None:
    bench.update()
    with bench.open() as reader:
        (file,) = reader.files()
    assert (file.status, file.reason) == (FileStatus.PARTIAL, "sheet Old is damaged")
