"""What goes on while an answer is made, on a terminal. Erased when done; the answer is printed then."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from ragcli import events as ev
from ragcli.render import risk
from ragcli.render.terminal import Printer, count
from ragcli.types import Step

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_A_SECOND = 12  # how often the screen is drawn
ROUND = "round"  # the Progress of a method that retrieves in rounds


class Stage:
    """The stage in words: what is done, how far it is, in which round."""

    def __init__(self) -> None:
        self._doing, self._round = "searching …", ""

    @property
    def text(self) -> str:
        """One line."""
        return f"{self._round}{self._doing}"

    def take(self, event: ev.Event) -> None:
        """Follow the event."""
        match event:
            case ev.Progress() if event.stage == ROUND:
                self._round = f"round {event.done + 1} of at most {event.total}: "
            case ev.Progress() if event.stage:
                far = f" {event.done} of {event.total}" if event.total > 1 else ""
                self._doing = f"{event.stage} …{far}"
            case ev.Retrieved():
                self._round = ""
                self._doing = f"reading {count(len(event.hits), 'passage')} …"
            case ev.Token():
                self._doing = ""
            case _:
                pass


class _Live(ABC):
    """Something drawn below the cursor while events come, and erased at the end."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        self._stage = Stage()
        self._live = Live(
            console=console,
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
        """Draw the event; a new stage at once, for it may be a short one."""
        before = self._stage.text
        self._stage.take(event)
        if isinstance(event, ev.Progress) and self._stage.text != before:
            self._live.refresh()
        if isinstance(event, ev.Token):
            self._write(event.step)

    @abstractmethod
    def _write(self, step: Step) -> None: ...

    @abstractmethod
    def _draw(self) -> Text: ...


class LiveAnswer(_Live):
    """Draws what is going on below the cursor: a stage, then the tokens with their risk."""

    def __init__(self, printer: Printer, levels: risk.Levels) -> None:
        self._printer, self._levels = printer, levels
        self._steps: list[Step] = []
        super().__init__(printer.console())

    def _write(self, step: Step) -> None:
        self._steps.append(step)

    def _draw(self) -> Text:
        """As many of the last lines as the screen holds, the stage below them."""
        stage = self._stage.text
        if not self._steps:
            return self._printer.rich([(stage, "dim")])
        pieces = risk.pieces(tuple(self._steps), self._levels, styled=True)
        lines = list(self._printer.rich(pieces).wrap(self._live.console, self._printer.width))
        if stage:
            lines.append(self._printer.rich([(stage, "dim")]))
        text = self._printer.rich([])
        for number, line in enumerate(lines[-(self._printer.height - 2) :]):
            text.append("\n" if number else "")
            text.append_text(line)
        return text


class LiveStage(_Live):
    """The stage alone, on stderr: the answer itself goes to a file or a pipe."""

    def __init__(self, stream: TextIO, *, colorless: bool, width: int) -> None:
        from rich.console import Console

        self._writing = 0
        super().__init__(
            Console(
                file=stream, force_terminal=True, no_color=colorless, width=width, highlight=False
            )
        )

    def _write(self, step: Step) -> None:
        self._writing += 1

    def _draw(self) -> Text:
        from rich.text import Text

        writing = f"writing … {count(self._writing, 'token')}"
        return Text(self._stage.text or writing, style="dim", no_wrap=True, overflow="ellipsis")
