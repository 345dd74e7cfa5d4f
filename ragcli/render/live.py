"""The answer as it is generated, on a terminal. Erased when done; the final one is printed then."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragcli import events as ev
from ragcli.render import risk
from ragcli.render.terminal import Printer, count
from ragcli.types import Step

if TYPE_CHECKING:
    from rich.text import Text

_A_SECOND = 12  # how often the screen is drawn


class LiveAnswer(AbstractContextManager["LiveAnswer"]):
    """Draws what is going on below the cursor: a stage, then the tokens with their risk."""

    def __init__(self, printer: Printer, levels: risk.Levels) -> None:
        from rich.live import Live

        self._printer = printer
        self._levels = levels
        self._steps: list[Step] = []
        self._stage = "searching …"
        self._live = Live(
            console=printer.console(),
            transient=True,
            refresh_per_second=_A_SECOND,
            get_renderable=self._draw,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def take(self, event: ev.Event) -> None:
        """Draw the event."""
        match event:
            case ev.Retrieved():
                self._stage = f"reading {count(len(event.hits), 'passage')} …"
            case ev.Token():
                self._steps.append(event.step)
            case _:
                pass

    def _draw(self) -> Text:
        """As many of the last lines as the screen holds."""
        if not self._steps:
            return self._printer.rich([(self._stage, "dim")])
        pieces = risk.pieces(tuple(self._steps), self._levels, styled=True)
        lines = self._printer.rich(pieces).wrap(self._live.console, self._printer.width)
        text = self._printer.rich([])
        for number, line in enumerate(lines[-(self._printer.height - 2) :]):
            text.append("\n" if number else "")
            text.append_text(line)
        return text
