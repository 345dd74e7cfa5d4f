from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.decoding.options import (
    DECODERS,
    CadOptions,
    DragOptions,
    FkeOptions,
    PlainOptions,
    SamplingOptions,
    Setting,
    Value,
)
from ragcli.decoding.settings import describe, known_settings, parse_settings
from ragcli.errors import UsageError

EXTRA: dict[str, type | Setting] = {
    "retrieval.k": Setting(int, 10, "passages retrieved", low=1, high=1000),
    "plain.documents": int,
}


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("fke.alpha=1", "fke.alpha", 1.0),
        (" fke.alpha = .5 ", "fke.alpha", 0.5),
        ("fke.tau_d=0", "fke.tau_d", 0.0),
        ("fke.vocabulary=documents", "fke.vocabulary", "documents"),
        ("drag.gamma=2.5", "drag.gamma", 2.5),
        ("drag.on=probabilities", "drag.on", "probabilities"),
        ("cad.a=0", "cad.a", 0.0),
        ("sampling.max_tokens=7", "sampling.max_tokens", 7),
        ("sampling.draft=no", "sampling.draft", False),
        ("sampling.draft=TRUE", "sampling.draft", True),
        ("retrieval.k=3", "retrieval.k", 3),
        ("plain.documents=2", "plain.documents", 2),
    ],
)
def test_a_setting_is_read_as_its_type(text: str, key: str, value: Value) -> None:
    settings = parse_settings([text], extra=EXTRA)
    assert settings.as_dict()[key] == value
    assert type(settings.as_dict()[key]) is type(value)
    assert settings.given == (key,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fke.alhpa=1", "unknown setting: fke.alhpa (did you mean fke.alpha?)"),
        ("gamma=1", "unknown setting: gamma (did you mean drag.gamma?)"),
        ("retreival.k=1", "unknown setting: retreival.k (did you mean retrieval.k?)"),
        ("zzzz=1", "unknown setting: zzzz"),
        ("fke.alpha", "not a setting: fke.alpha"),
        ("fke.alpha=x", "fke.alpha=x is not allowed: fke.alpha takes number from 0 to 1000"),
        ("fke.alpha=", "fke.alpha= is not allowed: fke.alpha takes number from 0 to 1000"),
        ("fke.alpha=nan", "fke.alpha=nan is not allowed: fke.alpha takes number from 0 to 1000"),
        ("drag.delta=inf", "drag.delta=inf is not allowed: drag.delta takes number of at least 0"),
        ("cad.a=-1", "cad.a=-1 is not allowed: cad.a takes number from 0 to 100"),
        (
            "sampling.max_tokens=1.5",
            "sampling.max_tokens=1.5 is not allowed: "
            "sampling.max_tokens takes integer from 1 to 1000000",
        ),
        (
            "sampling.seed=-1",
            "sampling.seed=-1 is not allowed: "
            "sampling.seed takes integer from 0 to 9223372036854775807",
        ),
        ("sampling.draft=2", "sampling.draft=2 is not allowed: sampling.draft takes true|false"),
        ("drag.on=x", "drag.on=x is not allowed: drag.on takes logits|probabilities"),
        ("sampling.repeats=1", "sampling.repeats=1 would stop every answer"),
        ("retrieval.k=0", "retrieval.k=0 is not allowed: retrieval.k takes integer from 1 to 1000"),
    ],
)
def test_what_is_wrong_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_settings([text], extra=EXTRA)
    assert caught.value.message == message
    assert "\n" not in caught.value.message
    assert caught.value.hint


def test_lexical_weights_must_not_fall_with_diversity() -> None:
    assert parse_settings(["drag.lambda_inv=0.6"]).drag.lambda_inv == 0.6
    with pytest.raises(UsageError, match=r"lambda_inv <= drag\.lambda_var"):
        parse_settings(["drag.lambda_inv=0.7"])


def test_a_preset_is_where_the_others_start() -> None:
    paper = parse_settings(["fke.tau_s=0.3", "fke.preset=paper"]).fke
    assert (paper.alpha, paper.tau_d, paper.tau_s, paper.m) == (1.0, 0.0, 0.3, 3)
    assert paper.draw == "sample"


def test_later_assignments_and_the_command_line_win_over_the_configuration() -> None:
    settings = parse_settings(
        ["fke.alpha=2", "fke.alpha=3"], base={"fke.alpha": 1, "cad.a": 0.25, "sampling.draft": "no"}
    )
    assert (settings.fke.alpha, settings.cad.a, settings.sampling.draft) == (3.0, 0.25, False)


@pytest.mark.parametrize("value", [True, None, [1], "x", math.nan])
def test_a_configuration_file_is_checked_too(value: object) -> None:
    with pytest.raises(UsageError, match=r"fke\.alpha"):
        parse_settings([], base={"fke.alpha": value})


@given(
    alpha=st.floats(0, 1000),
    delta=st.floats(0, 1e6),
    seed=st.integers(0, 2**63 - 1),
    preset=st.sampled_from(["default", "paper"]),
    draft=st.booleans(),
)
def test_assignments_give_the_same_settings_again(
    alpha: float, delta: float, seed: int, preset: str, draft: bool
) -> None:
    texts = [f"fke.alpha={alpha}", f"drag.delta={delta}", f"fke.preset={preset}"]
    texts += [f"sampling.seed={seed}", f"sampling.draft={draft}", "retrieval.k=4"]
    settings = parse_settings(texts, extra=EXTRA)
    again = parse_settings(settings.assignments(), extra=EXTRA)
    assert again.as_dict() == settings.as_dict()
    assert (again.fke, again.drag, again.sampling) == (
        settings.fke,
        settings.drag,
        settings.sampling,
    )


def test_each_decoder_finds_its_options() -> None:
    settings = parse_settings(["fke.alpha=2", "drag.gamma=0.1", "cad.a=0.75"])
    assert settings.decoder("plain") == PlainOptions()
    assert settings.decoder("fke") == FkeOptions(alpha=2.0)
    assert settings.decoder("drag") == DragOptions(gamma=0.1)
    assert settings.decoder("drag-all") == DragOptions(gamma=0.1, tokens="all")
    assert settings.decoder("cad") == CadOptions(a=0.75)
    assert list(DECODERS) == ["plain", "fke", "drag", "drag-all", "cad"]
    with pytest.raises(UsageError, match=r"unknown decoder: drga \(did you mean drag\?\)"):
        settings.decoder("drga")


def test_options_made_by_hand_are_checked_too() -> None:
    with pytest.raises(UsageError, match=r"sampling\.top_p"):
        SamplingOptions(top_p=1.5)
    with pytest.raises(UsageError, match=r"fke\.alpha"):
        FkeOptions(alpha=-1)


def test_every_setting_is_described_and_its_default_is_allowed() -> None:
    rows = {row.key: row for row in describe(EXTRA)}
    assert set(rows) == set(known_settings(EXTRA)) == set(parse_settings([], extra=EXTRA).as_dict())
    for key, setting in known_settings(EXTRA).items():
        setting.check(key, setting.default)
        assert rows[key].allowed
        assert rows[key].doc or key == "plain.documents"
        assert parse_settings([f"{key}={rows[key].default}"], extra=EXTRA).given == (key,)
