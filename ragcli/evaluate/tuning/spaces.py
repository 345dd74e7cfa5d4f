"""What is tried: small grids around the defaults, and those that the user declares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragcli.decoding.options import Value
from ragcli.errors import UsageError
from ragcli.evaluate.tuning.search import Axis, Point, Space
from ragcli.methods.registry import settings_from

PARTS = ("abstain", "delta", "drag", "fke")  # in the order in which they are fitted
SEARCHED = ("drag", "fke")
LAMBDAS = ("drag.lambda_inv", "drag.lambda_var", "drag.lambda_sup")


def _axis(key: str, *values: float) -> Axis:
    return Axis(key.partition(".")[2], tuple((f"{key}={value:g}",) for value in values))


# The lambdas have one mean: they say which questions are riskier than others, delta how many
# tokens are. fke.tau_d=0 is left out: a greedy answer then is that of the documents alone.
GRIDS: dict[str, tuple[Axis, ...]] = {
    "drag": (
        _axis("drag.gamma", 0.1, 0.25, 0.5, 1, 2),
        _axis("drag.alpha", 0.4, 0.7, 1),
        _axis("drag.beta", 0.1, 0.3, 0.6),
        Axis("lambda", tuple(
            tuple(f"{key}={one:g}" for key, one in zip(LAMBDAS, values, strict=True))
            for values in ((0.4, 0.6, 0.8), (0.6, 0.6, 0.6), (0.2, 0.6, 1))
        )),
    ),
    "fke": (
        _axis("fke.alpha", 0.25, 0.5, 1, 2, 4),
        _axis("fke.tau_d", 0.5, 1, 2),
        _axis("fke.tau_s", 0.2, 0.5, 1, 2),
        _axis("fke.top_k", 10, 50, 0),
    ),
}  # fmt: skip


def parse_parts(text: str) -> tuple[str, ...]:
    """Parts of a comma separated list, in their order; drag brings delta. Raises UsageError."""
    named = {one.strip() for one in text.split(",") if one.strip()}
    unknown = sorted(named - set(PARTS))
    if unknown or not named:
        said = f"--what {text}: {unknown[0]} cannot be tuned" if unknown else "nothing to tune"
        raise UsageError(said, hint=f"some of {', '.join(PARTS)}")
    if "drag" in named:
        named.add("delta")
    return tuple(part for part in PARTS if part in named)


def declared(tries: Sequence[str]) -> dict[str, tuple[Axis, ...]]:
    """The axes of `fke.alpha=0.5,2` texts, by part; they stand instead of its whole grid.

    Raises UsageError for what is no setting of a part that is searched.
    """
    found: dict[str, tuple[Axis, ...]] = {}
    for text in tries:
        key, equals, values = text.partition("=")
        part = key.strip().partition(".")[0]
        points = tuple((f"{key.strip()}={v.strip()}",) for v in values.split(",") if v.strip())
        if not equals or not points or part not in SEARCHED:
            raise UsageError(f"--try {text}: nothing to try", hint="write --try fke.alpha=0.5,1,2")
        if key.strip() == "drag.delta":
            raise UsageError("drag.delta is not searched", hint="--share says what it calibrates")
        for point in points:
            settings_from(point)
        found[part] = (*found.get(part, ()), Axis(key.strip().partition(".")[2], points))
    return found


def space_of(axes: Iterable[Axis], in_force: Sequence[str], start: Point = ()) -> Space:
    """Moves away from the settings in force; values that hold already are left out.

    Raises UsageError where a move does not go together with what is in force.
    """
    now = settings_from([*in_force, *start]).as_dict()
    moved = []
    for axis in axes:
        moves = tuple(
            m for m in axis.moves if settings_from([*in_force, *start, *m]).as_dict() != now
        )
        if moves:
            moved.append(Axis(axis.name, moves))
    return Space(tuple(moved), start)


def values_at(point: Point, in_force: Sequence[str], keys: Iterable[str]) -> dict[str, Value]:
    """The settings at a point, by full key."""
    table = settings_from([*in_force, *point]).as_dict()
    return {key: table[key] for key in keys}


def keys_of(axes: Iterable[Axis]) -> tuple[str, ...]:
    """The settings that the axes change."""
    return tuple(dict.fromkeys(
        text.partition("=")[0] for axis in axes for move in axis.moves for text in move
    ))  # fmt: skip
