"""DRAGIN's control flow with a scripted model: cut, query, resume, bounded. No model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from ragcli.decoding.stop import Stop
from ragcli.errors import ModelError
from ragcli.events import Event, Finished, Progress, Selected, Token, Warned
from ragcli.llm.base import Feed, Output
from ragcli.methods.bases import combined
from ragcli.methods.registry import settings_from
from ragcli.methods.run import Asker, AskOptions
from ragcli.methods.sentences import by_sentence, first_sentence
from ragcli.types import Answer, Hit, Step
from tests.methods.fakes import FakeGenerator, FakeReader, FakeSession, hit

GOLDEN = Path(__file__).parent.parent / "golden" / "dragin.json"
QUESTION = "Who was the first keeper, and who came second?"
KEEPER = hit(1, "Mira Oskan was the first keeper of the light.", "She kept bees.")
SHIPS = hit(2, "Who came second is in the book of keepers.")
SECOND = hit(3, "Tam Ruud was the second keeper.", "He came in 1931.")

FIRST = "The first keeper was Mira Oskan. "
GUESS = "The second keeper was Unknown Someone."
KNOWN = "The second keeper was Tam Ruud."


class Unsure(FakeSession):
    """Words that are doubted are hardly likelier than any other."""

    def _advance(self, feed: Feed) -> Output:
        output = super()._advance(feed)
        owner = cast(Doubting, self._owner)
        logits = output.logits.copy()
        for row in logits:
            if owner.vocabulary.piece(int(row.argmax())).decode().strip() in owner.doubts:
                row[:] = np.where(row == row.max(), 1.0, 0.0)
        attention = output.attention if owner.tap_available else None
        return Output(logits, output.start, attention)


class Doubting(FakeGenerator):
    """Says one script a pass, the last one again and again."""

    def __init__(self, *scripts: str, doubts: Sequence[str] = ()) -> None:
        super().__init__("")
        self.scripts = [self.vocabulary.tokenize(script) for script in scripts]
        self.doubts = doubts

    def word(self, position: int) -> int:
        self._script = self.scripts[min(len(self.starts), len(self.scripts)) - 1]
        return super().word(position)

    def session(self, branches: int, *, tap: bool = True, n_ctx: int | None = None) -> FakeSession:
        self.sessions += 1
        return Unsure(self, branches)


class Shelves(FakeReader):
    """Finds by a word of the query; the first shelf whose word is in it counts."""

    def __init__(self, shelves: Mapping[str, Sequence[Hit]], *others: Hit) -> None:
        super().__init__(*others, *(h for hits in shelves.values() for h in hits))
        self._shelves, self._others = shelves, others

    def search(self, query: str, *, k: int, **_: Any) -> tuple[Hit, ...]:
        self.queries.append(query)
        found = next((h for word, h in self._shelves.items() if word in query), self._others)
        return tuple(found[:k])


def run(
    generator: Doubting, reader: FakeReader, *assignments: str, method: str = "plain", **names: Any
) -> tuple[Answer, list[Event]]:
    chosen = combined(method, base="dragin", **names)
    settings = settings_from(assignments)
    with Asker(cast(Any, reader), generator, settings, AskOptions(force=True)) as asker:
        events = list(asker.ask(QUESTION, chosen))
    assert isinstance(events[-1], Finished)
    return events[-1].answer, events


def shelves() -> Shelves:
    return Shelves({"Mira": [SECOND]}, KEEPER, SHIPS)


def trace(answer: Answer, events: list[Event], generator: Doubting) -> dict[str, Any]:
    """What happened, in order, tokens of a sentence joined."""
    flow: list[Any] = []
    for event in events:
        if isinstance(event, Token):
            if not (flow and isinstance(flow[-1], dict) and "text" in flow[-1]):
                flow.append({"text": ""})
            flow[-1]["text"] += event.step.text
        elif isinstance(event, Selected):
            flow.append({"selected": [s.sentence.text for s in event.sources], "by": event.by})
        else:
            flow.append(type(event).__name__)
    return {
        "flow": flow,
        "prompts end": [prompt.split("Question: ")[-1] for prompt in generator.prompts],
        "retrievals": [
            {**again, "score": round(again["score"], 6)}
            for again in answer.provenance["retrievals"]
        ],
        "answer": answer.text,
    }


def test_golden_trace_cut_query_resume() -> None:
    generator, reader = Doubting(FIRST + GUESS, KNOWN, doubts=["Unknown"]), shelves()
    answer, events = run(generator, reader)
    assert trace(answer, events, generator) == json.loads(GOLDEN.read_text("utf-8"))


def test_the_sentence_is_cut_and_written_anew() -> None:
    generator, reader = Doubting(FIRST + GUESS, KNOWN, doubts=["Unknown"]), shelves()
    answer, events = run(generator, reader)
    assert answer.text == FIRST + KNOWN
    assert "Unknown" not in "".join(e.step.text for e in events if isinstance(e, Token))
    (again,) = answer.provenance["retrievals"]
    assert again["word"] == "Unknown"
    assert again["step"] == 6
    assert again["query"].startswith("first keeper came second")
    assert again["query"].endswith("Mira Oskan")
    assert reader.queries == [QUESTION, again["query"]]
    assert generator.prompts[-1].endswith(FIRST.rstrip())
    assert [h.passage.id for h in answer.hits] == [1, 2, 3]
    assert [h.rank for h in answer.hits] == [1, 2, 3]


def test_the_answer_rests_on_the_passages_of_all_passes() -> None:
    answer, _ = run(Doubting(FIRST + GUESS, KNOWN, doubts=["Unknown"]), shelves())
    assert [s.sentence.id for s in answer.selected] == [100, 101, 200, 300, 301]
    assert {len(step.attention) for step in answer.steps} == {5}
    assert not any(step.looked for step in answer.steps)
    first, second = answer.steps[0].attention, answer.steps[-1].attention
    assert min(first[:3]) > 0 == max(first[3:])
    assert min(second[3:]) > 0 == max(second[:3])
    cited = [[c.sentence.id for c in s.citations] for s in answer.sentences]
    assert cited == [[100], [300]]


def test_an_answer_without_doubt_is_one_pass() -> None:
    generator, reader = Doubting(FIRST + KNOWN), shelves()
    answer, _ = run(generator, reader)
    assert (answer.text, generator.starts, reader.queries) == (FIRST + KNOWN, [1], [QUESTION])
    assert answer.provenance["retrievals"] == []


def test_doubts_about_stop_words_count_for_nothing() -> None:
    generator = Doubting(FIRST + KNOWN, doubts=["was", "The"])
    run(generator, shelves())
    assert generator.starts == [1]


def test_the_first_sentence_may_be_cut() -> None:
    generator = Doubting("Unknown Mira was first.", "Tam Ruud was second.", doubts=["Mira"])
    answer, _ = run(generator, Shelves({"Unknown": [SECOND]}, KEEPER))
    assert answer.text == "Tam Ruud was second."
    assert [s.sentence.id for s in answer.selected] == [300, 301]  # nothing stands of the first


def test_nothing_new_goes_on_with_the_sentence() -> None:
    generator = Doubting(FIRST + GUESS, doubts=["Unknown"])
    reader = Shelves({}, KEEPER, SHIPS)
    answer, events = run(generator, reader)
    assert answer.text == FIRST + GUESS
    assert generator.starts == [1]
    assert [again["anew"] for again in answer.provenance["retrievals"]] == [False]
    assert sum(isinstance(event, Selected) for event in events) == 1


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_rounds_are_bounded_and_the_last_finishes(rounds: int) -> None:
    """Each pass writes a sentence that stands, then one that is doubted; new text each time."""

    class Endless(FakeReader):
        def search(self, query: str, **options: Any) -> tuple[Hit, ...]:
            self.queries.append(query)
            return (hit(len(self.queries), f"The book has {len(self.queries)} pages."),)

    generator = Doubting("Mira was first. Unknown came second. Nobody came third.",
                         doubts=["Unknown", "Nobody"])  # fmt: skip
    reader = Endless()
    answer, events = run(generator, reader, f"dragin.rounds={rounds}")
    assert len(reader.queries) == 1 + rounds
    assert len(generator.starts) == 1 + rounds
    assert len(answer.provenance["retrievals"]) == rounds
    assert answer.text.endswith("Unknown came second. Nobody came third.")
    assert answer.text.count("Mira was first.") == 1 + rounds
    steps = [event for event in events if isinstance(event, Progress)]
    assert [(event.done, event.total) for event in steps] == [(n, rounds) for n in range(rounds)]


def test_theta_and_top_n_are_settings() -> None:
    scripts = (FIRST + GUESS, KNOWN)
    generator = Doubting(*scripts, doubts=["Unknown"])
    run(generator, shelves(), "dragin.theta=1000")
    assert generator.starts == [1]
    reader = shelves()
    run(Doubting(*scripts, doubts=["Unknown"]), reader, "dragin.top_n=2")
    assert len(reader.queries[1].split()) == 2


@pytest.mark.parametrize(
    ("over", "inside", "outside"),
    [
        ("question", ["came", "Oskan"], ["light", "bees", "Question"]),
        ("answer", ["Mira", "Oskan"], ["came", "light"]),
        ("prompt", ["came", "Oskan", "light", "bees"], ["short", "complete"]),
    ],
)
def test_what_a_query_is_taken_from(over: str, inside: list[str], outside: list[str]) -> None:
    reader = shelves()
    run(Doubting(FIRST + GUESS, KNOWN, doubts=["Unknown"]), reader, f"dragin.over={over}",
        "dragin.top_n=100")  # fmt: skip
    words = reader.queries[1].split()
    assert [w for w in inside if w not in words] == []
    assert [w for w in outside if w in words] == []


def test_fke_extracts_anew_on_each_query() -> None:
    generator, reader = Doubting(FIRST + GUESS, KNOWN, doubts=["Unknown"]), shelves()
    answer, events = run(generator, reader, method="fke")
    assert answer.text == FIRST + KNOWN
    assert generator.starts == [2, 2]
    first, second = [e for e in events if isinstance(e, Selected)]
    assert "extraction" in first.by
    assert {s.sentence.document_id for s in second.sources} == {3}
    assert answer.provenance["base"] == "dragin"
    assert answer.provenance["decode"] == "fke"
    assert all(prompt.endswith(FIRST.rstrip()) for prompt in generator.prompts[-2:])


def test_without_attention_it_refuses() -> None:
    generator = Doubting(FIRST)
    generator.tap_available, generator.tap_reason = False, "no softmax to read"
    with pytest.raises(ModelError, match="no softmax to read"):
        run(generator, shelves())
    assert generator.sessions == 0


def test_attention_lost_on_the_way_is_an_error() -> None:
    class Lost(Doubting):
        def session(self, branches: int, **options: Any) -> FakeSession:
            opened = super().session(branches)
            self.tap_available, self.tap_reason = False, "rows do not sum to 1"
            return opened

    with pytest.raises(ModelError, match="rows do not sum to 1"):
        run(Lost(FIRST + GUESS), shelves())


def test_an_interrupted_answer_keeps_what_stands() -> None:
    generator, seen = Doubting(FIRST + GUESS, KNOWN, doubts=["Unknown"]), []
    chosen = combined("plain", base="dragin")
    with Asker(cast(Any, shelves()), generator, settings_from()) as asker:
        for event in asker.ask(
            QUESTION, chosen, lambda: sum(isinstance(e, Token) for e in seen) >= 3
        ):
            seen.append(event)
    assert isinstance(seen[-1], Finished)
    assert seen[-1].answer.stop == "interrupted"
    assert seen[-1].answer.text


def steps(*texts: str) -> list[Step]:
    return [Step(n, text, 0.0, 0.0) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Yes", ".", " No"), 2),
        (("Yes", ".", " "), 0),  # nothing has begun yet
        (("Dr", ".", " Ruud", " came"), 0),
        (("It", " is", " 3", ".", "5", " bar"), 0),
        (("Yes", ".\n\n", "No"), 2),
        (("- one", "\n", "- two"), 2),
        (("Yes", ". N", "o"), 2),  # a token belongs where its first visible character stands
        (("はい", "。", "いいえ"), 2),
        ((), 0),
    ],
)
def test_first_sentence(texts: tuple[str, ...], expected: int) -> None:
    assert first_sentence(steps(*texts)) == expected


def test_pieces_hold_every_step_once() -> None:
    stop = Stop("length")

    def writing() -> Any:
        yield from steps("One", ".", " Two", " words", ".", "\n", "Three")
        return stop

    pieces = list(by_sentence(writing()))
    assert [(p.first, p.last, len(p.steps), p.stop) for p in pieces] == [
        (0, 2, 3, None), (2, 6, 7, None), (6, 7, 7, stop),
    ]  # fmt: skip


def test_a_changed_file_found_while_writing_is_said_once() -> None:
    reader = shelves()
    reader._stale = [SECOND.document.id, KEEPER.document.id]
    answer, events = run(Doubting(FIRST + GUESS, KNOWN, doubts=["Unknown"]), reader)
    said = [one for one in answer.warnings if "since it was indexed" in one]
    assert len(said) == len({hit.document.id for hit in answer.hits} & set(reader._stale)) == 2
    assert [event.message for event in events if isinstance(event, Warned)] == list(answer.warnings)
