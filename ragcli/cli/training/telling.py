"""What `ragcli train` says: bars while it works, a summary at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ragcli.cli.environment import Environment
from ragcli.closing import Closing

if TYPE_CHECKING:
    from ragcli.render.terminal import Printer


class Bars(Closing):
    """A bar for what goes on, on a terminal; nothing elsewhere."""

    def __init__(self, env: Environment) -> None:
        self._env, self._stack = env, ExitStack()
        self._what = ""
        self._tick: Callable[[int], None] = lambda done: None

    def close(self) -> None:
        self._stack.close()

    def watch(self, what: str, done: int, total: int) -> None:
        """Told of each step; another `what` begins another bar."""
        if not self._env.progress:
            return
        if what != self._what:
            self._stack.close()
            self._what = what
            self._tick = self._stack.enter_context(self.one(what, total))
        self._tick(done)

    @contextmanager
    def one(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """A bar by itself."""
        if not self._env.progress:
            yield lambda done: None
            return
        from ragcli.render.counting import counting_bar

        with counting_bar(self._env.stderr, what, total, self._env.width) as tick:
            yield tick


def estimated(what: str, training: int, development: int, seconds: float) -> dict[str, Any]:
    """What `--estimate --json` prints. what: is to be trained; seconds: all of it, about."""
    from ragcli import __version__

    return {
        "schema": "ragcli/estimate@1",
        "ragcli": __version__,
        "what": what,
        "training": training,
        "development": development,
        "seconds": seconds,
    }


def long(seconds: float) -> str:
    """A time to wait, in words."""
    return f"about {seconds:.0f} s" if seconds < 90 else f"about {seconds / 60:.0f} min"


def show_drafts(printer: Printer, report: Mapping[str, Any]) -> None:
    """How many pairs there are, and what was wrong with the drafts that are none."""
    from ragcli.render.terminal import columns
    from ragcli.train.questions.checks import REASONS

    dropped = {reason: count for reason, count in report["dropped"].items() if count}
    failed = sum(dropped.values())
    printer.line(
        f"{report['file']}: {report['kept']} pairs kept of {report['kept'] + failed} drafts"
    )
    rows = [[str(count), reason, REASONS[reason]] for reason, count in dropped.items()]
    if rows:
        columns(printer, rows)
        printer.line(f"what was dropped: {report['dropped_file']}")


def show(printer: Printer, report: Mapping[str, Any], folder: str) -> None:
    """The stages' development numbers, agreement with the generator, what changes in answers."""
    from ragcli.render.terminal import columns, size

    rows = [["stage", "epoch", "loss", "held aside"]]
    for one in report["epochs"]:
        held = ", ".join(f"{name} {value:.3f}" for name, value in one["development"].items())
        loss = "" if one["loss"] is None else f"{one['loss']:.3f}"
        rows.append([one["stage"], str(one["epoch"]), loss, held or "-"])
    columns(printer, rows, styles=("number",))
    agreement = report["development"]["agreement"]
    if agreement.get("with"):
        without, with_ = agreement["without"], agreement["with"]
        printer.line(
            f"agrees with the generator on {with_['agreement']:.0%} of {agreement['pairs']} pairs of"
            f" orders (before integrated feedback {without['agreement']:.0%}), kappa"
            f" {with_['kappa']:.2f} ({without['kappa']:.2f})"
        )
    answers = report["answers"]
    if answers["questions"]:
        printer.line(
            f"{answers['questions']} answers, from the retriever's top half and organized:"
            f" right then {answers['np']} (wrong before), wrong then {answers['pn']} (right before);"
            f" tokens {answers['tokens_before']:.0f} and {answers['tokens_after']:.0f}"
        )
    made = report["organizer"]
    printer.line(
        f"{folder}: organizer {made['name']} ({made['sha256'][:12]}), {size(made['bytes'])};"
        f" ragcli ask --method ko-rag --organizer {folder} …"
    )
