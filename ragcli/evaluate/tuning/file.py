"""The fitted values as a configuration file, with what they rest on as comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragcli.decoding.options import Value
from ragcli.evaluate.metrics.bootstrap import Interval
from ragcli.evaluate.tuning.fit import Fit


def toml(fits: Sequence[Fit], heading: Iterable[str]) -> str:
    """TOML that `ragcli` reads; what is not better than what was in force is a comment.

    heading: lines for the top. A value that was not changed is not written, since it holds
    without being set.
    """
    lines = [f"# {_inert(line)}" for line in heading]
    for table in dict.fromkeys(key.partition(".")[0] for fit in fits for key in fit.values):
        lines += ["", f"[{table}]"]
        for fit in fits:
            own = {k: v for k, v in fit.values.items() if k.startswith(f"{table}.")}
            if own:
                lines += _entries(fit, own)
    return "\n".join(lines) + "\n"


def _entries(fit: Fit, own: dict[str, Value]) -> list[str]:
    told = [
        f"# {_inert(fit.measure)}, {fit.questions} questions: before {spelled(fit.default)},"
        f" held-in {spelled(fit.held_in)},",
        f"# cross-validated {spelled(fit.crossed)}; {_inert(fit.why)}",
    ]
    for key, value in own.items():
        name = key.partition(".")[2]
        if key not in fit.changed:
            told.append(f"# {name} stays {literal(value)}")
        elif fit.keep:
            told.append(f"{name} = {literal(value)}  # before: {literal(fit.before[key])}")
        else:
            told.append(f"# {name} = {literal(value)}  # in force: {literal(fit.before[key])}")
    return told


def literal(value: Value) -> str:
    """A TOML literal of a setting's value; texts of settings need no escapes."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def spelled(value: Interval, *, signed: bool = False) -> str:
    """`0.31 [0.22, 0.40]`."""
    form = "+.3f" if signed else ".3f"
    text = format(value.estimate, form)
    if value.low is None or value.high is None:
        return text
    return f"{text} [{format(value.low, form)}, {format(value.high, form)}]"


def _inert(text: str) -> str:
    """One line, whatever a file's name holds."""
    return "".join(char if char.isprintable() else " " for char in text)
