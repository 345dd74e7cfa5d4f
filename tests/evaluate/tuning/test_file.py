"""The written configuration is read back by the loader of `ragcli` itself."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from ragcli.cli import config
from ragcli.cli.environment import Environment
from ragcli.decoding.options import Value
from ragcli.evaluate.metrics.bootstrap import Interval
from ragcli.evaluate.tuning.document import table, told, values_table
from ragcli.evaluate.tuning.file import toml
from ragcli.evaluate.tuning.fit import Fit

SCORE = Interval(0.4, 0.3, 0.5, 20)


def fit(part: str, values: dict[str, Value], before: dict[str, Value], keep: bool) -> Fit:
    facts: dict[str, Any] = {"points": 5, "held_in_gain": 0.1}
    return Fit(part, 20, values, before, "token F1", SCORE, SCORE, SCORE, SCORE, keep,
               "why\nnot", (values, before), facts)  # fmt: skip


FITS = (
    fit("delta", {"drag.delta": 0.0312}, {"drag.delta": 0.15}, True),
    fit("drag", {"drag.gamma": 2.0, "drag.lambda_inv": 0.2}, {"drag.gamma": 0.5, "drag.lambda_inv": 0.4}, False),
    fit("fke", {"fke.alpha": 2.0, "fke.top_k": 0, "fke.tau_s": 1.0}, {"fke.alpha": 1.0, "fke.top_k": 50, "fke.tau_s": 1.0}, True),
)  # fmt: skip


@pytest.fixture
def text() -> str:
    return toml(FITS, ["Fitted on a\nname = 1", "with a model"])


def test_values_to_use_are_read_back_and_others_are_comments(text: str) -> None:
    assert config.parse(text) == {"drag.delta": 0.0312, "fke.alpha": 2.0, "fke.top_k": 0}
    config.check(config.parse(text), "test")
    assert "# gamma = 2.0  # in force: 0.5" in text
    assert "# tau_s stays 1.0" in text
    assert text.count("[drag]") == 1


@pytest.mark.parametrize("place", ["user", "project"])
def test_it_serves_as_a_configuration(
    text: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCLI_CONFIG_DIR", str(tmp_path / "user"))
    index = tmp_path / "work" / ".ragcli"
    index.mkdir(parents=True)
    (index / "catalog.sqlite").write_bytes(b"")
    (tmp_path / "user").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    folder = index if place == "project" else tmp_path / "user"
    (folder / "config.toml").write_text(text, encoding="utf-8")
    env = Environment(io.StringIO(), io.StringIO(), io.StringIO(), {})
    found = config.load(env)
    assert {*found.assignments} == {"drag.delta=0.0312", "fke.alpha=2.0", "fke.top_k=0"}
    assert config.load(env, {"settings": ["fke.alpha=3"]}).methods["fke.alpha"].value == "3"


def test_a_file_without_values_to_use_sets_nothing() -> None:
    assert config.parse(toml(FITS[1:2], ())) == {}


def test_tables_for_people() -> None:
    rows = table(FITS)
    assert [row[0] for row in rows] == ["", "delta", "drag", "fke"]
    assert rows[2][-1] == "keep what is in force"
    assert rows[1][2] == "0.400 [0.300, 0.500]"
    assert ["drag.gamma", "0.5", "2.0", "2.0, 0.5"] in values_table(FITS)
    assert "5 points scored; held-in gain +0.100" in " ".join(told(FITS[1:]))
