from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ragcli.decoding.draft import Drafter
from ragcli.decoding.stop import Repetition, StopStrings
from ragcli.types import Step


def naive_repeats(tokens: Sequence[int], repeats: int) -> bool:
    """Whether the end is a block of up to 64 tokens, `repeats` times, 30 tokens or more."""
    for period in range(1, 65):
        run = period
        while run < len(tokens) and tokens[-1 - run] == tokens[-1 - run + period]:
            run += 1
        if run >= max(repeats * period, 30) and run <= len(tokens):
            return True
    return False


@given(
    st.lists(st.integers(0, 2), max_size=20),
    st.lists(st.integers(0, 2), min_size=1, max_size=25),
    st.integers(1, 30),
    st.integers(2, 5),
)
def test_repetition_agrees_with_looking_at_the_whole_text(
    before: list[int], block: list[int], times: int, repeats: int
) -> None:
    guard, tokens = Repetition(repeats), before + block * times
    for end in range(1, len(tokens) + 1):
        found = guard.push(tokens[end - 1])
        assert bool(found) == naive_repeats(tokens[:end], repeats)
        assert found < end


@given(
    st.text("ab", max_size=30),
    st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=3),
    st.lists(st.integers(0, 4), min_size=30, max_size=30),
)
def test_the_answer_ends_before_the_first_stop_string(
    text: str, strings: list[str], sizes: list[int]
) -> None:
    pieces, rest = [], text
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    stops, shown = StopStrings(strings), ""
    for number, piece in enumerate([*pieces, rest]):
        for step in stops.push(Step(number, piece, 0.0, 0.0)):
            shown += step.text
            assert not any(one in shown for one in strings)
        if stops.hit:
            break
    shown += "".join(step.text for step in stops.rest())
    found = [text.find(one) for one in strings if one in text]
    # a string that begins earlier may be completed later than one that ends the answer
    if found:
        assert stops.hit
        assert text.startswith(shown)
        assert not any(one in shown for one in strings)
    else:
        assert shown == text


def test_a_draft_grows_while_it_probably_stands() -> None:
    drafter = Drafter()
    drafter.add(margin=9.0, checked=True)
    assert drafter.worth_more
    drafter.add(margin=0.05, checked=True)  # a toss-up
    assert not drafter.worth_more
    drafter.restart()
    for _ in range(Drafter.LONGEST):
        assert drafter.worth_more
        drafter.add(margin=0.0, checked=False)
    assert not drafter.worth_more


def test_acceptance_moves_the_length_of_drafts() -> None:
    def length_after(stood: bool) -> int:
        drafter, length = Drafter(), 0
        for _ in range(50):
            drafter.learn(2.5, stood)
        while drafter.worth_more:
            drafter.add(2.5, checked=True)
            length += 1
        return length

    assert length_after(stood=False) == 1
    assert length_after(stood=True) > 20
