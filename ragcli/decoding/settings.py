"""`--set fke.alpha=1`: typed, checked settings; an unknown key gets the nearest valid name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, cast

from ragcli.decoding.options import (
    DECODERS,
    FKE_PRESETS,
    CadOptions,
    DecoderOptions,
    DragOptions,
    FkeOptions,
    PlainOptions,
    SamplingOptions,
    Setting,
    Value,
    settings_of,
    show,
)
from ragcli.errors import UsageError

_GROUPS = (FkeOptions, DragOptions, CadOptions, SamplingOptions)
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True,
             "false": False, "no": False, "off": False, "0": False}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the settings table of `ragcli methods`."""

    key: str
    default: str
    allowed: str
    doc: str
    source: str


@dataclass(frozen=True)
class Settings:
    """All settings of a run. `extra` holds what methods registered, by full key.

    given: the keys set by the user, in key order.
    """

    fke: FkeOptions = field(default_factory=FkeOptions)
    drag: DragOptions = field(default_factory=DragOptions)
    cad: CadOptions = field(default_factory=CadOptions)
    sampling: SamplingOptions = field(default_factory=SamplingOptions)
    extra: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    given: tuple[str, ...] = ()

    def decoder(self, name: str) -> DecoderOptions:
        """The options of the decoder `name`. Raises UsageError for an unknown one."""
        if name not in DECODERS:
            raise UsageError(f"unknown decoder: {name}{_nearest(name, DECODERS)}",
                             hint=f"decoders: {', '.join(DECODERS)}")  # fmt: skip
        if name == "drag-all":
            return replace(self.drag, tokens="all")
        if DECODERS[name].options is PlainOptions:
            return PlainOptions()
        found: DecoderOptions = getattr(self, name)
        return found

    def as_dict(self) -> dict[str, Value]:
        """Every setting by its full key: `{"fke.alpha": 1.0, …}`, for provenance."""
        table: dict[str, Value] = {}
        for group in (self.fke, self.drag, self.cad, self.sampling):
            table |= {f"{group.namespace}.{f.name}": getattr(group, f.name) for f in fields(group)}
        return table | dict(self.extra)

    def assignments(self) -> list[str]:
        """What to give `--set` to get these settings again."""
        return [f"{key}={show(value)}" for key, value in self.as_dict().items()]


def known_settings(extra: Mapping[str, type | Setting] | None = None) -> dict[str, Setting]:
    """Every valid key and what it takes. `extra`: keys that methods register.

    A bare type stands for a required-type setting without bounds and a zero default.
    """
    table = {
        f"{group.namespace}.{name}": setting
        for group in _GROUPS
        for name, setting in settings_of(group)
    }
    for key, one in (extra or {}).items():
        table[key] = one if isinstance(one, Setting) else Setting(one, one(), "")
    return table


def parse_settings(
    assignments: Sequence[str],
    *,
    extra: Mapping[str, type | Setting] | None = None,
    base: Mapping[str, object] | None = None,
) -> Settings:
    """Settings from `key=value` texts, over `base` (a configuration file, typed or text).

    Raises UsageError for a text without `=`, an unknown key (with the nearest valid
    one) and a value of the wrong type or out of range (with what is allowed).
    """
    known = known_settings(extra)
    values = {key: _typed(key, value, known) for key, value in (base or {}).items()}
    for text in assignments:
        key, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"not a setting: {text}", hint="write it as --set fke.alpha=1")
        values[key.strip()] = _typed(key.strip(), value.strip(), known)
    return _build(values, extra or {}, known)


def _build(
    values: Mapping[str, Value],
    extra: Mapping[str, type | Setting],
    known: Mapping[str, Setting],
) -> Settings:
    preset = FKE_PRESETS[str(values.get("fke.preset", "default"))]
    start = {f"fke.{name}": value for name, value in preset.items()} | dict(values)
    registered = {key: start.get(key, known[key].default) for key in extra}
    return Settings(
        fke=FkeOptions(**_within("fke", start, extra)),
        drag=DragOptions(**_within("drag", start, extra)),
        cad=CadOptions(**_within("cad", start, extra)),
        sampling=SamplingOptions(**_within("sampling", start, extra)),
        extra=MappingProxyType(registered),
        given=tuple(sorted(values)),
    )


def _within(
    namespace: str, values: Mapping[str, Value], extra: Mapping[str, object]
) -> dict[str, Any]:
    prefix = f"{namespace}."
    return {
        key.removeprefix(prefix): value
        for key, value in values.items()
        if key.startswith(prefix) and key not in extra
    }


def _typed(key: str, value: object, known: Mapping[str, Setting]) -> Value:
    """`value` as the setting's type, checked."""
    if key not in known:
        raise UsageError(f"unknown setting: {key}{_nearest(key, known)}",
                         hint="`ragcli methods` lists every setting")  # fmt: skip
    setting = known[key]
    typed = _read(setting, value) if isinstance(value, str) else value
    if not setting.allows(typed):
        setting.refuse(key, value)
    return cast(Value, float(typed) if setting.type is float else typed)  # type: ignore[arg-type]


def _read(setting: Setting, text: str) -> Value | None:
    """The value that `text` spells, None if it spells none of the setting's type."""
    if setting.type is bool:
        return _BOOLEANS.get(text.lower())
    if setting.type is str:
        return text
    try:
        number: Value = setting.type(text)
    except ValueError:
        return None
    return number


def _nearest(name: str, known: Mapping[str, object]) -> str:
    """` (did you mean …?)`: the nearest full key, or the nearest by its last part."""
    found = get_close_matches(name, known, n=1, cutoff=0.6)
    if not found:
        last = name.rpartition(".")[2]
        tails = {key.rpartition(".")[2]: key for key in known}
        found = [tails[t] for t in get_close_matches(last, tails, n=1, cutoff=0.6)]
    return f" (did you mean {found[0]}?)" if found else ""


def describe(extra: Mapping[str, type | Setting] | None = None) -> list[Row]:
    """Rows for `ragcli methods`: every setting, what it takes, what it means."""
    return [
        Row(key, show(one.default), one.allowed, one.doc, one.source)
        for key, one in known_settings(extra).items()
    ]
