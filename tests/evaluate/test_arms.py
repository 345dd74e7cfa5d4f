"""Arms by name, and which settings an arm's answers depend on."""

from __future__ import annotations

import pytest

from ragcli.errors import UsageError
from ragcli.evaluate.ablations import ABLATIONS, find_ablation
from ragcli.evaluate.arms import ARMS, method_of, namespaces_of, parse_arms, reading
from ragcli.evaluate.plan import Plan, relevant
from ragcli.evaluate.types import Arm
from ragcli.methods.registry import METHODS


def test_every_method_is_an_arm() -> None:
    assert set(METHODS) <= set(ARMS)
    assert {"gold", "full", "sentences", "verbatim"} <= set(ARMS)


def test_parts_and_settings_are_read() -> None:
    plain, other = parse_arms("plain, drag+select=fke+drag.gamma=1")
    assert plain == ARMS["plain"]
    assert other == Arm(
        "drag+select=fke+drag.gamma=1", "drag", select="fke", settings=("drag.gamma=1",)
    )
    assert method_of(other).decode == "drag"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no method"),
        ("plane", "did you mean plain"),
        ("plain,plain", "named twice"),
        ("plain+fast", "not KEY=VALUE"),
        ("plain+speed=1", "no part of a method"),
        ("plain+select=nothing", "unknown selector"),
        ("closed-book+select=fke", "takes no part"),
        ("gold+retrieval.k=4", "takes no part"),
    ],
)
def test_what_is_no_arm_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_arms(text)


@pytest.mark.parametrize("ablation", ABLATIONS.values(), ids=list(ABLATIONS))
def test_an_ablation_can_be_run_and_all_its_arms_differ(ablation: object) -> None:
    arms = ablation.arms  # type: ignore[attr-defined]
    plan = Plan((), arms)
    seen = []
    for arm in arms:
        method_of(arm)
        names = namespaces_of(arm)
        assert all(text.partition(".")[0] in names for text in arm.settings)
        seen.append((repr(method_of(arm)), relevant(plan.settings(arm), arm)))
    assert all(one not in seen[:at] for at, one in enumerate(seen))


def test_an_unknown_ablation_is_refused() -> None:
    with pytest.raises(UsageError, match="did you mean fke-alpha"):
        find_ablation("fke-alfa")


def test_other_methods_settings_do_not_matter_to_an_arm() -> None:
    def of(name: str, *assignments: str) -> dict[str, object]:
        return relevant(Plan((), (), assignments).settings(ARMS[name]), ARMS[name])

    assert of("plain", "fke.alpha=2", "drag.gamma=1") == of("plain")
    assert of("fke", "fke.alpha=2") != of("fke")
    assert of("verbatim", "fke.m=2") != of("verbatim")
    assert of("plain", "sampling.seed=1") != of("plain")


def test_full_reads_all_candidates() -> None:
    plan = Plan((), (), ("retrieval.candidates=7",))
    assert plan.settings(ARMS["full"]).extra["retrieval.k"] == 7


def test_arms_of_like_prompts_follow_one_another() -> None:
    arms = parse_arms("drag,plain,sentences,fke,gold,dragin,verbatim")
    assert [arm.name for arm in sorted(arms, key=reading)][:3] == ["dragin", "plain", "fke"]
