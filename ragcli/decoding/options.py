"""Typed options of the decoders, each with its range, default, meaning and source.

What a paper does not publish is ours, chosen on development data. Values are checked when
an object is made; a wrong one raises `UsageError`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NoReturn, TypeAlias

from ragcli.errors import UsageError

Value: TypeAlias = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of one parameter: enough to parse, check and describe it.

    low, high: inclusive bounds of numbers, None for none. source: paper and equation,
    or "ours".
    """

    type: type
    default: Value
    doc: str
    source: str = "ours"
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The allowed values in words, for messages and for `ragcli methods`."""
        if self.choices:
            return "|".join(self.choices)
        if self.type is bool:
            return "true|false"
        kind = {int: "integer", float: "number"}.get(self.type, "text")
        if self.low is not None and self.high is not None:
            return f"{kind} from {_plain(self.low)} to {_plain(self.high)}"
        return f"{kind} of at least {_plain(self.low)}" if self.low is not None else kind

    def allows(self, value: object) -> bool:
        """Whether `value` has the type and lies in the range."""
        if isinstance(value, bool) != (self.type is bool):
            return False
        if not isinstance(value, (int, float) if self.type is float else self.type):
            return False
        if self.choices and value not in self.choices:
            return False
        return not isinstance(value, (int, float)) or self._within(value)

    def check(self, key: str, value: object) -> None:
        """Raises UsageError for a value that is not allowed."""
        if not self.allows(value):
            self.refuse(key, value)

    def _within(self, value: float) -> bool:
        low = float("-inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        finite = value == value and abs(value) != float("inf")
        return finite and low <= value <= high

    def refuse(self, key: str, value: object) -> NoReturn:
        raise UsageError(
            f"{key}={value} is not allowed: {key} takes {self.allowed}",
            hint=f"the default is {key}={show(self.default)}",
        )


def show(value: Value) -> str:
    """A value as `--set` reads it back: `true`, `0.5`, `paper`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(bound: float) -> str:
    return str(bound) if isinstance(bound, int) else f"{bound:.15g}"


def _option(
    kind: type,
    default: Value,
    doc: str,
    source: str = "ours",
    *,
    within: tuple[float | None, float | None] = (None, None),
    choices: tuple[str, ...] = (),
) -> Any:
    setting = Setting(kind, default, doc, source, within[0], within[1], choices)
    return field(default=default, metadata={"setting": setting})


class _Checked:
    """Checks every field against its `Setting` when an object is made."""

    __slots__ = ()
    namespace = ""

    def __post_init__(self) -> None:
        for name, setting in settings_of(type(self)):
            setting.check(f"{self.namespace}.{name}", getattr(self, name))


def settings_of(options: type) -> Iterator[tuple[str, Setting]]:
    """The parameters of an options class, in the order of its fields."""
    for one in fields(options):
        yield one.name, one.metadata["setting"]


@dataclass(frozen=True, slots=True)
class PlainOptions(_Checked):
    """The model's own distribution under the documents; nothing to set."""

    namespace = "plain"


FKE_PRESETS: dict[str, dict[str, Value]] = {
    "default": {},
    "paper": {"alpha": 1.0, "tau_d": 0.0, "tau_s": 0.2, "m": 3, "draw": "sample"},
}


@dataclass(frozen=True, slots=True)
class FkeOptions(_Checked):
    """Documents and query-focused sentences fused (paper 000, eq. 7-10).

    The trap: with tau_d=0 the document branch puts all its mass on its argmax, which
    with alpha <= 1 is at least half of the mixture, so a *greedy* choice never differs
    from the document branch. The `paper` preset therefore draws at random (seeded).
    """

    namespace = "fke"

    preset: Literal["default", "paper"] = _option(
        str,
        "default",
        "values that the other fke settings start from",
        choices=("default", "paper"),
    )
    alpha: float = _option(
        float, 1.0, "weight of the sentence branch", "FKE eq. 7, section 3.3", within=(0, 1000)
    )
    tau_d: float = _option(
        float, 1.0, "temperature of the document branch; 0 is its argmax alone, as in the paper",
        "FKE eq. 7; default ours", within=(0, 100),
    )  # fmt: skip
    tau_s: float = _option(
        float, 1.0, "temperature of the sentence branch (paper: 0.2); the lower, the more it"
        " decides alone", "FKE eq. 7; default ours", within=(0, 100),
    )  # fmt: skip
    top_k: int = _option(
        int, 50, "tokens kept of each distribution; 0 keeps all", "FKE eq. 8; k is ours",
        within=(0, None),
    )  # fmt: skip
    vocabulary: Literal["union", "documents", "sentences"] = _option(
        str, "union", "whose most likely tokens are kept", "FKE eq. 8; reading ours",
        choices=("union", "documents", "sentences"),
    )  # fmt: skip
    m: int = _option(int, 3, "sentences in the sentence branch", "FKE section 3.3", within=(1, 100))
    draw: Literal["follow", "sample"] = _option(
        str, "follow", "follow sampling.temperature, or always sample from the mixture",
        "FKE eq. 10", choices=("follow", "sample"),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DragOptions(_Checked):
    """Risk-guided sparse calibration against a noise reference (paper 001, eq. 4-8)."""

    namespace = "drag"

    gamma: float = _option(
        float, 0.5, "weight of the noise reference", "DRAG eq. 8; value ours", within=(0, 100)
    )
    delta: float = _option(
        float, 0.15, "risk from which a token is calibrated: about 15 % of the tokens; left alone,"
        " it is 0.05 where no analyzer scores the documents, since risk is smaller there",
        "DRAG eq. 8; value ours", within=(0, None),
    )  # fmt: skip
    tokens: Literal["risky", "all"] = _option(
        str, "risky", "calibrate tokens of risk >= delta, or every token", "DRAG Table 4",
        choices=("risky", "all"),
    )  # fmt: skip
    lambda_inv: float = _option(
        float, 0.4, "lexical risk of an invariant component", "DRAG eq. 4; value ours",
        within=(0, 100),
    )  # fmt: skip
    lambda_var: float = _option(
        float, 0.6, "lexical risk of a variant component", "DRAG eq. 4; value ours",
        within=(0, 100),
    )  # fmt: skip
    lambda_sup: float = _option(
        float, 0.8, "lexical risk of a supplementary component", "DRAG eq. 4; value ours",
        within=(0, 100),
    )  # fmt: skip
    alpha: float = _option(
        float, 0.7, "weight of variant components in a document's score",
        "DRAG section 3.2; value ours", within=(0, 1),
    )  # fmt: skip
    beta: float = _option(
        float, 0.3, "weight of supplementary components in a document's score",
        "DRAG section 3.2; value ours", within=(0, 1),
    )  # fmt: skip
    plausibility: float = _option(
        float, 0.1, "only tokens with at least this share of the likeliest token's probability"
        " may win; 0 turns it off", "contrastive decoding; ours for DRAG", within=(0, 1),
    )  # fmt: skip
    on: Literal["logits", "probabilities"] = _option(
        str, "logits", "what is subtracted", "DRAG eq. 8; reading ours",
        choices=("logits", "probabilities"),
    )  # fmt: skip
    attention: Literal["raw", "renormalised"] = _option(
        str, "raw", "attention mass on documents as it is, or scaled to sum to 1 over them",
        "DRAG eq. 5; reading ours", choices=("raw", "renormalised"),
    )  # fmt: skip
    factors: Literal["all", "attention-prediction", "prediction"] = _option(
        str, "all", "of the risk; one that is left out counts 1, so delta means another share",
        "DRAG eq. 7, Table 7", choices=("all", "attention-prediction", "prediction"),
    )  # fmt: skip
    reference: Literal["lowest", "fixed", "question"] = _option(
        str, "lowest", "noise text: the lowest-scored document, a fixed unrelated one, or none",
        "DRAG section 3.3, Table 9", choices=("lowest", "fixed", "question"),
    )  # fmt: skip

    def __post_init__(self) -> None:
        _Checked.__post_init__(self)
        if not self.lambda_inv <= self.lambda_var <= self.lambda_sup:
            raise UsageError(
                "drag.lambda_inv <= drag.lambda_var <= drag.lambda_sup does not hold: "
                f"{self.lambda_inv:g}, {self.lambda_var:g}, {self.lambda_sup:g}",
                hint="the more freely a component may be worded, the higher its risk",
            )


@dataclass(frozen=True, slots=True)
class CadOptions(_Checked):
    """Context-aware decoding: softmax((1+a) z_context - a z_question)."""

    namespace = "cad"

    a: float = _option(
        float, 0.5, "how strongly the documents are set against the bare question",
        "context-aware decoding", within=(0, 100),
    )  # fmt: skip
    plausibility: float = _option(
        float, 0.0, "as drag.plausibility; the original has none", "contrastive decoding",
        within=(0, 1),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SamplingOptions(_Checked):
    """How a token is chosen from the final distribution, and when to stop."""

    namespace = "sampling"

    max_tokens: int = _option(int, 256, "most tokens of an answer", within=(1, 1_000_000))
    temperature: float = _option(
        float, 0.0, "0 takes the likeliest token; 1 samples the distribution as it is",
        within=(0, 100),
    )  # fmt: skip
    top_k: int = _option(int, 0, "tokens that may be sampled; 0 for all", within=(0, None))
    top_p: float = _option(
        float, 1.0, "smallest set of tokens that may be sampled with this probability",
        within=(0, 1),
    )  # fmt: skip
    seed: int = _option(int, 0, "seed of the random numbers", within=(0, 2**63 - 1))
    repeats: int = _option(
        int, 3, "stop once the same run of tokens has come this many times in a row; 0 for never",
        within=(0, 1000),
    )  # fmt: skip
    draft: bool = _option(bool, True, "let the document branch run ahead; the same tokens, faster")

    def __post_init__(self) -> None:
        _Checked.__post_init__(self)
        if self.repeats == 1:
            raise UsageError(
                "sampling.repeats=1 would stop every answer",
                hint="use 2 or more, or 0 to turn the guard off",
            )


DecoderOptions: TypeAlias = PlainOptions | FkeOptions | DragOptions | CadOptions


@dataclass(frozen=True, slots=True)
class Decoder:
    """A decoder by name. second: the other branch it reads, "" for none."""

    name: str
    options: type[DecoderOptions]
    second: Literal["", "fine", "noise"]
    summary: str


DECODERS: dict[str, Decoder] = {
    d.name: d
    for d in (
        Decoder("plain", PlainOptions, "", "the documents alone"),
        Decoder("fke", FkeOptions, "fine", "documents and sentences fused"),
        Decoder("drag", DragOptions, "noise", "risky tokens set against a noise document"),
        Decoder("drag-all", DragOptions, "noise", "every token set against a noise document"),
        Decoder("cad", CadOptions, "noise", "documents set against the bare question"),
    )
}
