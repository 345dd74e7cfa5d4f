"""Bookkeeping of branches, over a context whose logits tell exactly what a token saw."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcli.errors import Interrupted, ModelError
from ragcli.llm.backend import Status
from ragcli.llm.base import Feed, Output, Rows
from ragcli.llm.session import BranchSession
from tests.llm.fakes import FakeContext, attention_of, logits_of

BRANCHES = 3


def session_of(
    *contexts: FakeContext, limit: int = 1000, n_ctx: int | None = None
) -> BranchSession:
    supply = iter(contexts)
    return BranchSession(lambda _size: next(supply), BRANCHES, limit=limit, n_ctx=n_ctx)


def check(output: Output, tokens: list[int], rows: int) -> None:
    """Every row is the one that a context holding only these tokens would give."""
    assert len(output.logits) == rows
    assert output.start + rows == len(tokens) + 1
    for row in range(rows):
        length = output.start + row
        np.testing.assert_array_equal(
            output.logits[row], logits_of(list(enumerate(tokens[:length])))
        )
        if output.attention is not None:
            expected = np.zeros(len(tokens), np.float32)
            expected[:length] = attention_of(np.arange(length))
            np.testing.assert_array_equal(output.attention[row], expected)


token_lists = st.lists(st.integers(0, 2), max_size=7)  # few tokens: many shared prefixes
operations = st.one_of(
    st.tuples(
        st.just("start"),
        st.dictionaries(st.integers(0, 2), token_lists.filter(len), min_size=1),
        st.sampled_from(["drop", "keep", "prefix"]),
    ),
    st.tuples(
        st.just("feed"),
        st.dictionaries(
            st.integers(0, 2), st.tuples(token_lists, st.sampled_from(["last", "all", "none"]))
        ),
        st.sampled_from([None, Status.ABORTED, Status.FAILED]),
    ),
    st.tuples(st.just("truncate"), st.integers(0, 2), st.floats(0, 1)),
)


def _feed(
    session: BranchSession,
    context: FakeContext,
    model: dict[int, list[int]],
    wanted: dict[int, tuple[list[int], Rows]],
    failure: Status | None,
) -> None:
    """Feeds, fails where told to, and checks every row of what came back."""
    wanted = {b: feed for b, feed in wanted.items() if model.get(b) or feed[0]}
    before = {b: list(model.get(b, [])) for b in wanted}
    waiting = {b: session.decoded(b) < len(before[b]) or not wanted[b][0] for b in wanted}
    feeds = [Feed(b, tokens, rows) for b, (tokens, rows) in wanted.items()]
    context.fail = [Status.OK, failure] if failure else []
    try:
        outputs = session.advance(feeds)
    except (Interrupted, ModelError):
        for b in wanted:
            assert session.tokens(b).tolist() == before[b]
        return
    context.fail = []
    for feed, output in zip(feeds, outputs, strict=True):
        tokens = before[feed.branch] + list(feed.tokens)
        model[feed.branch] = tokens
        more = waiting[feed.branch] and len(before[feed.branch]) > 0
        rows = {"last": 1, "none": 0, "all": len(feed.tokens) + more}[feed.logits]
        check(output, tokens, rows)


@settings(max_examples=300, deadline=None)
@given(
    program=st.lists(operations, max_size=25),
    cuttable=st.booleans(),
    tap=st.booleans(),
)
def test_every_row_is_that_of_a_fresh_context(
    program: list[tuple], cuttable: bool, tap: bool
) -> None:
    context = FakeContext(2000, cuttable=cuttable, tap=tap)
    session = session_of(context)
    session.start({})
    model: dict[int, list[int]] = {}
    for name, *arguments in program:
        if name == "start":
            prompts, how = arguments
            first = np.asarray(prompts[min(prompts)], np.int32)[:-1] if how == "prefix" else None
            session.start(prompts, keep=how == "keep", prefix=first)
            model = {b: list(tokens) for b, tokens in arguments[0].items()}
        elif name == "truncate":
            branch, part = arguments
            length = int(part * session.length(branch))
            session.truncate(branch, length)
            model[branch] = model.get(branch, [])[:length]
        else:
            _feed(session, context, model, *arguments)
        for branch in range(BRANCHES):
            assert session.tokens(branch).tolist() == model.get(branch, [])
            assert session.decoded(branch) <= session.length(branch)


def test_a_shared_prefix_is_decoded_once() -> None:
    context = FakeContext(100, n_batch=50)
    session = session_of(context)
    session.start({0: [1, 1, 1, 2], 1: [1, 1, 1, 3], 2: [1, 1, 4]})
    session.advance([Feed(0), Feed(1), Feed(2)])
    assert context.decodes == [6]  # 1 1, 1, 2, 3, 4


def test_a_late_branch_copies_what_a_living_one_has() -> None:
    context = FakeContext(100, n_batch=50)
    session = session_of(context)
    session.start({0: [1, 2, 3, 4], 1: [1, 2, 3, 5]})
    session.advance([Feed(0)])
    session.advance([Feed(0, [6])])
    session.advance([Feed(0, [7]), Feed(1, [6, 7])])
    assert context.decodes == [4, 1, 4]
    assert context.used == 5 + 1 + 3


def test_a_waiting_branch_costs_nothing() -> None:
    context = FakeContext(100)
    session = session_of(context)
    session.start({0: [1], 1: [2, 2, 2]})
    session.advance([Feed(0)])
    assert (session.decoded(1), session.length(1), context.used) == (0, 3, 1)


def test_keep_saves_the_common_prefix_and_drops_the_rest() -> None:
    context = FakeContext(2000, n_batch=50)
    session = session_of(context)
    session.start({0: [1, 2, 3, 4], 1: [5, 6]})
    session.advance([Feed(0), Feed(1)])
    session.start({0: [1, 2, 3, 9], 1: [1, 2, 3, 8, 8]}, keep=True)
    assert context.used == 3
    session.advance([Feed(0), Feed(1)])
    assert context.decodes == [6, 3]


def test_a_prefix_stays_as_it_is_from_one_start_to_the_next() -> None:
    context = FakeContext(2000, n_batch=50)
    session = session_of(context)
    prefix = np.array([1, 2, 3, 4], np.int32)
    for expected in ([4, 3], [4, 3, 3], [4, 3, 3, 3]):
        session.start({0: [1, 2, 3, 4, 5], 1: [1, 2, 9, 9]}, prefix=prefix)
        assert context.used == 4
        outputs = session.advance([Feed(0), Feed(1)])
        assert context.decodes == expected
        check(outputs[0], [1, 2, 3, 4, 5], 1)
        check(outputs[1], [1, 2, 9, 9], 1)
    session.start({0: [1, 2, 3, 4, 5]}, prefix=prefix[:3])  # not quite the same: read anew
    session.advance([Feed(0)])
    assert context.decodes[-2:] == [3, 2]


def test_a_context_of_its_own_size_grows_and_answers_alike() -> None:
    small, large = FakeContext(6, n_batch=6), FakeContext(50, n_batch=50)
    session = session_of(small, large)
    session.start({0: [1, 2, 3], 1: [1, 2, 4]})
    session.advance([Feed(0), Feed(1)])
    (output,) = session.advance([Feed(0, [1, 1, 2], "all")])
    check(output, [1, 2, 3, 1, 1, 2], 3)
    assert small.closed
    (output,) = session.advance([Feed(1, [0])])
    check(output, [1, 2, 4, 0], 1)


def test_a_full_context_of_fixed_size_says_so_and_stays_usable() -> None:
    session = session_of(FakeContext(6), n_ctx=6)
    session.start({0: [1, 2, 3], 1: [4]})
    session.advance([Feed(0), Feed(1)])
    with pytest.raises(ModelError, match="context of 6 tokens is full"):
        session.advance([Feed(0, [1]), Feed(1, [2, 2])])
    assert [session.length(branch) for branch in (0, 1)] == [3, 1]
    (output,) = session.advance([Feed(1, [2])])
    check(output, [4, 2], 1)


def test_limits_are_of_one_branch() -> None:
    session = session_of(FakeContext(100), limit=4)
    with pytest.raises(ModelError, match="take 5 tokens; the context holds 4"):
        session.start({0: [1] * 5})
    session.start({0: [1] * 3})
    with pytest.raises(ModelError, match="take 5 tokens"):
        session.advance([Feed(0, [1, 1])])
    assert session.length(0) == 3


def test_cells_that_disagree_with_the_engine_turn_the_tap_off() -> None:
    class Liar(FakeContext):
        def cells(self) -> np.ndarray:
            return np.roll(np.array(self._cells, np.int64), 1) + 1

    reasons: list[str] = []
    session = BranchSession(lambda _n: Liar(50), 1, limit=50, no_tap=reasons.append)
    session.start({0: [1, 2, 3]})
    (output,) = session.advance([Feed(0)])
    assert output.attention is None
    assert len(reasons) == 1
    check(output, [1, 2, 3], 1)


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ([Feed(0, [1]), Feed(0, [2])], "once a call"),
        ([Feed(3, [1])], "branches are 0 to 2"),
        ([Feed(-1, [1])], "branches are 0 to 2"),
        ([Feed(1)], "branch 1 is empty"),
    ],
)
def test_wrong_feeds_are_refused(feeds: list[Feed], message: str) -> None:
    session = session_of(FakeContext(50))
    session.start({0: [1]})
    with pytest.raises(ValueError, match=message):
        session.advance(feeds)
    assert session.length(0) == 1


def test_a_closed_session_is_refused() -> None:
    context = FakeContext(50)
    with session_of(context) as session:
        session.start({0: [1]})
    assert context.closed
    with pytest.raises(ValueError, match="closed"):
        session.advance([Feed(0)])
