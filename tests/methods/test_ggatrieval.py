"""GGatrieval's rounds with an invented index: control flow, trace, abstention. No model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli.events import Event, Finished, Progress
from ragcli.index.where import EVERYWHERE, Where
from ragcli.llm.base import EncodedPrompt
from ragcli.llm.ondemand import OnDemand
from ragcli.methods.ggatrieval import ALL_FULL, NOTHING_NEW
from ragcli.methods.grounding import ByEncoder, ByGenerator
from ragcli.methods.grounding_options import Options
from ragcli.methods.registry import METHODS, describe, settings_from
from ragcli.methods.run import Asker, AskOptions
from ragcli.methods.stages import Tools
from ragcli.render.json import answer_document
from ragcli.types import Answer, Hit, SearchMode
from tests.methods.fakes import FakeGenerator, FakeReader, hit

GOLDEN = Path(__file__).parent.parent / "golden" / "ggatrieval.json"
QUESTION = "Who was the first keeper of the Sandholm light?"
SAYS = "The first keeper was Mira Oskan."

FULL = hit(1, "Mira Oskan was the first keeper of the Sandholm light.", "She kept bees.")
TWO_OF_THREE = hit(2, "Tam Ruud was the second keeper of the Sandholm light.")
ONE_OF_THREE = hit(3, "The Sandholm light is white.")
NOTHING = hit(4, "Ships pass at night.")


class Library(FakeReader):
    """Finds by what a query begins with; the longest beginning wins."""

    def __init__(self, shelves: Mapping[str, Sequence[Hit]]) -> None:
        every = {h.passage.id: h for hits in shelves.values() for h in hits}
        super().__init__(*every.values())
        self._shelves = shelves
        self.asked: list[tuple[str, int]] = []

    def search(
        self,
        query: str,
        *,
        k: int,
        mode: SearchMode = SearchMode.HYBRID,
        where: Where = EVERYWHERE,
        score_sentences: bool = True,
    ) -> tuple[Hit, ...]:
        self.asked.append((query, k))
        begins = max((b for b in self._shelves if query.startswith(b)), key=len, default="")
        found = self._shelves.get(begins, ())
        return tuple(replace(h, rank=n) for n, h in enumerate(found[:k], start=1))


def ask(
    library: FakeReader, *assignments: str, generator: Any = None, **options: Any
) -> tuple[Answer, list[Event]]:
    model = generator or FakeGenerator(SAYS)
    with Asker(
        cast(Any, library), model, settings_from(assignments), AskOptions(**options)
    ) as asker:
        events = list(asker.ask(QUESTION, METHODS["ggatrieval"]))
    assert isinstance(events[-1], Finished)
    return events[-1].answer, events


def test_enough_in_the_first_round() -> None:
    library = Library({QUESTION: [NOTHING, TWO_OF_THREE, FULL]})
    answer, events = ask(library)
    assert library.asked == [(QUESTION, 50)]
    assert answer.trace is not None
    (one,) = answer.trace.iterations
    assert (one.full, one.partial, one.none, one.candidates) == (1, 1, 1, 3)
    assert (one.kept, one.score, one.sufficient) == ((1, 2, 4), 1.0, True)
    assert [h.passage.id for h in answer.hits] == [1, 2, 4]
    assert [h.rank for h in answer.hits] == [1, 2, 3]
    assert not answer.abstained
    assert [type(e) for e in events].count(Progress) == 1


def test_what_was_kept_feeds_the_next_round() -> None:
    """As printed, Algorithm 1 never assigns D, and no query would ever be augmented."""
    library = Library({
        QUESTION: [ONE_OF_THREE, TWO_OF_THREE],
        f"{QUESTION} Tam": [NOTHING, FULL],
    })  # fmt: skip
    answer, _ = ask(library, "ggatrieval.enough=1")
    assert [k for _, k in library.asked] == [50, 5, 5]
    assert library.asked[1][0] == f"{QUESTION} {TWO_OF_THREE.passage.text}"
    assert library.asked[2][0].startswith("Who was the first keeper the first keeper of the")
    assert answer.trace is not None
    first, second = answer.trace.iterations
    assert not first.sufficient
    assert first.missing == ("the first keeper",)
    assert [q.kind for q in second.queries] == ["aligned", "compensated"]
    assert [q.of for q in second.queries] == [2, 3]
    assert second.kept == (1, 2, 3, 4)
    assert second.sufficient
    assert answer.text == SAYS


def test_the_rounds_are_bounded_and_the_failure_is_told() -> None:
    def shelf(n: int) -> list[Hit]:
        return [hit(10 + n, f"The Sandholm light has {n} windows.")]

    class Endless(Library):
        def search(self, query: str, **options: Any) -> tuple[Hit, ...]:
            super().search(query, **options)
            return tuple(shelf(len(self.asked)))

    library = Endless({})
    answer, _ = ask(library, "ggatrieval.least=0.7")
    assert answer.trace is not None
    assert len(answer.trace.iterations) == 4
    assert answer.abstained
    assert "“the first keeper”" in answer.reason
    again, _ = ask(Endless({}), "ggatrieval.iterations=2")
    assert again.trace is not None
    assert len(again.trace.iterations) == 2


def test_rounds_end_when_nothing_new_is_found() -> None:
    answer, _ = ask(Library({QUESTION: [ONE_OF_THREE], "Who": [ONE_OF_THREE]}))
    assert answer.trace is not None
    assert answer.trace.ended == NOTHING_NEW
    assert len(answer.trace.iterations) == 2


def test_fully_aligned_passages_are_not_diversified() -> None:
    class Never(FakeGenerator):
        """Says No to sufficiency, Yes to all else."""

        def score_next(
            self, prompts: Sequence[EncodedPrompt], tokens: Sequence[int]
        ) -> NDArray[np.float32]:
            rows = super().score_next(prompts, tokens)
            for row, prompt in enumerate(self.prompts[-len(prompts) :]):
                empty = "Nothing is written" in prompt
                if "Do the texts" in prompt:
                    rows[row] = [-0.7, -0.7] if empty else [-5.0, -0.1]
                elif empty:
                    rows[row] = [-5.0, -0.1]
            return rows

    library = Library({QUESTION: [FULL]})
    answer, _ = ask(
        library, "ggatrieval.backend=generator", "ggatrieval.second=yes", generator=Never(SAYS)
    )
    assert answer.trace is not None
    assert answer.trace.ended == ALL_FULL
    assert len(library.asked) == 1
    assert answer.abstained


@pytest.mark.parametrize("force", [False, True])
def test_no_alignment_at_all_abstains_or_warns(force: bool) -> None:
    answer, _ = ask(Library({"Who": [NOTHING]}), force=force)
    assert answer.abstained is (not force or not answer.text)
    told = answer.reason + " ".join(answer.warnings)
    assert "no passage matches any part of the question" in told


def test_nothing_found() -> None:
    answer, _ = ask(Library({}))
    assert (answer.abstained, answer.reason) == (True, "nothing was found")


def test_golden_trace() -> None:
    """The whole record of two rounds, as it stands in the JSON."""
    library = Library({
        QUESTION: [ONE_OF_THREE, TWO_OF_THREE],
        f"{QUESTION} Tam": [NOTHING, FULL],
    })  # fmt: skip
    answer, _ = ask(library, "ggatrieval.enough=1")
    document = answer_document(answer)
    got = {
        "trace": document["trace"],
        "alignments": [one["alignment"] for one in document["hits"]],
        "selected": [one["text"] for one in document["selected"]],
    }
    assert got == json.loads(GOLDEN.read_text("utf-8"))


def test_selected_sentences_are_those_aligned() -> None:
    answer, _ = ask(Library({QUESTION: [FULL, NOTHING]}), verbatim=True)
    assert answer.text == FULL.passage.sentences[0].text


def test_a_selector_for_hits_that_come_without_alignment() -> None:
    method = replace(METHODS["plain"], select=METHODS["ggatrieval"].select)
    library = Library({QUESTION: [NOTHING, ONE_OF_THREE, FULL]})
    with Asker(cast(Any, library), FakeGenerator(SAYS), settings_from([])) as asker:
        (*_, last) = asker.ask(QUESTION, method)
    assert isinstance(last, Finished)
    assert [h.passage.id for h in last.answer.hits] == [1, 3, 4]
    assert all(h.alignment is not None for h in last.answer.hits)
    assert last.answer.trace is None


def test_the_generator_is_named_where_it_judged() -> None:
    answer, _ = ask(
        Library({QUESTION: [FULL, ONE_OF_THREE]}),
        "ggatrieval.backend=generator", "ggatrieval.judged=1", "ggatrieval.iterations=1",
    )  # fmt: skip
    assert {h.passage.id: h.alignment.aligner for h in answer.hits if h.alignment} == {
        1: "generator:fake",
        3: "encoder",
    }
    assert answer.trace is not None
    assert "fake" in answer.trace.by


def test_the_model_chooses_among_passages_that_match_as_many_parts() -> None:
    """It finds the one that matches less the most useful, and is not asked about the others."""

    class Chooses(FakeGenerator):
        def score_next(
            self, prompts: Sequence[EncodedPrompt], tokens: Sequence[int]
        ) -> NDArray[np.float32]:
            rows = super().score_next(prompts, tokens)
            for row, prompt in enumerate(self.prompts[-len(prompts) :]):
                if "Does the text help" in prompt:
                    judged.append(prompt)
                    rows[row] = [-0.1, -5.0] if "ONE" in prompt else [-5.0, -0.1]
            return rows

    judged: list[str] = []
    one, two = hit(3, "ONE Sandholm light is white."), TWO_OF_THREE
    shelf = Library({"": [one, two, NOTHING]})
    settings = settings_from(["ggatrieval.keep=2"])
    tools = Tools(shelf.search, cast(Any, Chooses(SAYS)), shelf.encode, settings, "plain")
    by_rules = ByEncoder(QUESTION, "en", tools, Options.of(settings))
    by_rules.parse()
    hits = by_rules.align([one, two, NOTHING])
    keys = ByGenerator(QUESTION, "en", tools, Options.of(settings)).order(hits)
    assert sorted(range(3), key=keys.__getitem__) == [1, 0, 2]
    assert len(judged) == 2
    assert not [prompt for prompt in judged if NOTHING.passage.text in prompt]


def test_the_method_explains_itself() -> None:
    row = describe("ggatrieval")
    assert {"gather", "select"} == set(row.stages)
    keys = {one.key for one in row.settings}
    assert {"ggatrieval.tau", "ggatrieval.window", "ggatrieval.backend", "evidence.enough"} <= keys


# Verbatim answers


def never_loaded() -> Any:
    raise AssertionError("the model was loaded")


@pytest.mark.parametrize("name", ["plain", "ggatrieval"])
def test_verbatim_loads_no_generator_and_invents_nothing(name: str) -> None:
    library = Library({QUESTION: [FULL, TWO_OF_THREE, ONE_OF_THREE, NOTHING]})
    model = OnDemand(never_loaded)
    with Asker(cast(Any, library), model, settings_from([]), AskOptions(verbatim=True)) as asker:
        (*_, last) = asker.ask(QUESTION, METHODS[name])
    assert isinstance(last, Finished)
    answer = last.answer
    assert not answer.abstained
    known = {s.text: s for h in answer.hits for s in h.passage.sentences}
    for one in answer.sentences:
        assert one.text == known[one.text].text == answer.text[one.span.start : one.span.end]
        (cited,) = one.citations
        assert (cited.sentence, cited.score, cited.verdict.value) == (
            known[one.text],
            1.0,
            "supported",
        )
    assert [c.number for s in answer.sentences for c in s.citations] == [
        n for n, _ in enumerate(answer.sentences, start=1)
    ]
    assert answer.provenance["model"] is None
    assert answer.steps == ()


def test_verbatim_is_in_reading_order() -> None:
    story = hit(
        1, "The Sandholm light had a keeper.", "Rain fell.", "Mira Oskan was the first keeper."
    )
    library = Library({QUESTION: [story]})
    with Asker(
        cast(Any, library), OnDemand(never_loaded), settings_from([]), AskOptions(verbatim=True)
    ) as asker:
        (*_, last) = asker.ask(QUESTION, METHODS["ggatrieval"])
    assert isinstance(last, Finished)
    starts = [s.citations[0].sentence.start for s in last.answer.sentences]
    assert starts == sorted(starts)
    assert last.answer.text == "The Sandholm light had a keeper. Mira Oskan was the first keeper."


def test_k_says_how_many_are_kept() -> None:
    library = Library({QUESTION: [FULL, TWO_OF_THREE, ONE_OF_THREE]})
    for assignments, kept in ((["retrieval.k=2"], 2), (["retrieval.k=2", "ggatrieval.keep=1"], 1)):
        answer, _ = ask(library, *assignments)
        assert answer.trace is not None
        assert len(answer.trace.iterations[0].kept) == kept


@pytest.mark.parametrize(("least", "abstained"), [("0.6", False), ("0.7", True)])
def test_a_question_matched_in_part_is_answered_from_least(least: str, abstained: bool) -> None:
    """Two of three parts: not enough to stop searching, perhaps enough to answer."""
    shelf = hit(1, "Mira Oskan was the first to light the Sandholm light.")
    library = Library({"": [shelf], QUESTION: [shelf]})
    answer, _ = ask(library, f"ggatrieval.least={least}", verbatim=True)
    assert answer.trace is not None
    assert not answer.trace.iterations[-1].sufficient
    assert answer.abstained is abstained
