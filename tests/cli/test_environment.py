import io

import pytest

from ragcli.cli.environment import Color, Environment, OutputError

from .harness import Terminal


def make(terminal=False, color=Color.AUTO, **environ):
    stream = Terminal() if terminal else io.StringIO()
    return Environment(
        io.StringIO(), stream, Terminal() if terminal else io.StringIO(), environ, color
    )


@pytest.mark.parametrize(
    ("terminal", "color", "environ", "styled", "colorless"),
    [
        (False, Color.AUTO, {}, False, False),
        (True, Color.AUTO, {}, True, False),
        (True, Color.AUTO, {"TERM": "dumb"}, False, False),
        (True, Color.AUTO, {"NO_COLOR": "1"}, True, True),
        (True, Color.AUTO, {"NO_COLOR": ""}, True, False),
        (True, Color.NEVER, {}, True, True),
        (False, Color.NEVER, {}, False, True),
        (False, Color.ALWAYS, {}, True, False),
        (False, Color.ALWAYS, {"NO_COLOR": "1"}, True, False),
    ],
)
def test_when_there_is_colour(terminal, color, environ, styled, colorless):
    env = make(terminal, color, **environ)
    assert (env.styled, env.colorless) == (styled, colorless)


@pytest.mark.parametrize(
    ("terminal", "quiet", "term", "drawn"),
    [(True, False, "xterm", True), (True, True, "xterm", False), (True, False, "dumb", False),
     (False, False, "xterm", False)],
)  # fmt: skip
def test_progress_only_on_a_terminal(terminal, quiet, term, drawn):
    env = make(terminal, TERM=term)
    env.quiet = quiet
    assert env.progress is drawn


def test_remarks():
    env = make()
    env.note("a\x1b[2Jb")
    env.detail("not said")
    env.verbose, env.quiet = 1, True
    env.note("not said either")
    env.detail("said")
    assert env.stderr.getvalue() == "a␛[2Jb\nsaid\n"
    assert env.stdout.getvalue() == ""


def test_nobody_to_tell():
    env = make()
    env.stderr.close()
    env.complain("lost")


def test_a_full_disk_is_an_output_error():
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    env = make()
    env.stdout = Full()
    with pytest.raises(OutputError, match="No space left"):
        env.flush()
