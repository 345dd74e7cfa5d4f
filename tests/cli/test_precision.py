"""`--encoder-precision`: an index keeps to what it was made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcli.index.versions import recorded_precision

from .harness import invoke

pytestmark = pytest.mark.model


@pytest.fixture
def here(tmp_path: Path, bundled_encoder_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "valve.txt").write_text("The valve in the cellar is opened with the red handle.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_searches_and_later_runs_follow_the_index(here: Path) -> None:
    assert invoke("index", ".", "--encoder-precision", "int8").code == 0
    assert recorded_precision(here / ".ragcli") == "int8"
    (here / "rome.txt").write_text("Rome was not built in a day.\n")
    assert invoke("index").code == 0  # nothing said: as it was made
    result = invoke("search", "how to turn on the tap", "--mode", "dense", "-k", "1")
    assert result.out.startswith("valve.txt:1")
    found = invoke("doctor", "--json").json("doctor@1")["findings"]
    assert all(one["state"] != "problem" for one in found if one["group"] == "index")


@pytest.mark.parametrize(("made", "asked"), [("exact", "int8"), ("int8", "exact")])
def test_another_precision_is_refused_until_a_rebuild(here: Path, made: str, asked: str) -> None:
    assert invoke("index", ".", "--encoder-precision", made).code == 0
    result = invoke("index", ".", "--encoder-precision", asked)
    assert result.code == 3
    assert "int8" in result.err
    assert f"--encoder-precision {made}" in result.err
    assert invoke("index", ".", "--rebuild", "--encoder-precision", asked).code == 0
    assert recorded_precision(here / ".ragcli") == asked


def test_there_are_two(here: Path) -> None:
    result = invoke("index", ".", "--encoder-precision", "int4")
    assert result.code == 2
    assert "exact or int8" in result.err
