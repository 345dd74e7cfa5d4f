"""Marks stand where the tokens stand, whatever the tokens are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragcli.evaluate.report.highlights import Levels, marks_of, runs_of, runs_written, written
from ragcli.text.normalise import safe_for_terminal

from .kept_run import token

LEVELS = Levels(0.09, 0.12)
PIECES = st.text(alphabet="ab \n<é", max_size=4)
TOKENS = st.lists(
    st.builds(token, PIECES, st.sampled_from([None, 0.0, 0.1, 0.5]), st.sampled_from([None, "x"]))
)


@given(TOKENS)
def test_runs_add_up_to_what_was_written(tokens: list[dict[str, object]]) -> None:
    text = written(tokens)
    assert "".join(run.text for run in runs_written(tokens, LEVELS)) == safe_for_terminal(text)
    answer = text.strip()
    marks = marks_of(answer, tokens, LEVELS)
    assert "".join(run.text for run in runs_of(answer, 0, len(answer), marks)) == answer
    for mark in marks:
        assert answer[mark.start : mark.end] == mark.run.text
    bodies = [t for t in tokens if str(t["text"]).strip() and (LEVELS.of(t) or t["calibrated"])]
    assert len(marks) == len(bodies)


@given(TOKENS, st.integers(0, 9), st.integers(0, 9))
def test_any_part_can_be_cut_out(tokens: list[dict[str, object]], start: int, length: int) -> None:
    text = written(tokens).strip()
    end = min(start + length, len(text))
    runs = runs_of(text, start, end, marks_of(text, tokens, LEVELS))
    assert "".join(run.text for run in runs) == text[start:end]


def test_an_answer_that_was_not_written_has_no_marks() -> None:
    assert marks_of("quoted", [token("risky", 0.9)], LEVELS) == ()
    assert marks_of("", [token("risky", 0.9)], LEVELS) == ()
    cut = [token("one\n"), token("one", 0.9)]
    assert [mark.start for mark in marks_of("one\none", cut, LEVELS)] == [4]
    assert marks_of("one", cut, LEVELS) == ()
