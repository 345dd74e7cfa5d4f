"""KO-RAG's selection with scripted scores: what is scored, its order, the cut, what is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from ragcli.errors import ModelError
from ragcli.events import Finished, Selected
from ragcli.methods.bases import combined
from ragcli.methods.ko_rag import Organise, organises
from ragcli.methods.registry import METHODS, describe, settings_from
from ragcli.methods.run import Asker, AskOptions
from ragcli.methods.selecting import SELECTORS
from ragcli.methods.stages import Selection, Tools, sources_of
from ragcli.render.json import answer_document
from ragcli.types import Answer
from tests.methods.fakes import FakeGenerator, FakeReader, hit
from tests.selection.scripted import encode

QUESTION = "Where was the keeper of the Sandholm light born?"
KEEPER = "Mira Oskan was the keeper of the Sandholm light."
BIRTH = "Mira Oskan, a daughter of farmers, came from Ribe."
TOWER = "The tower of the light is built of stone."
BEES = "She kept bees and twelve goats on the island."
HITS = (
    hit(1, KEEPER, BEES, "They sang."),
    hit(2, TOWER, BIRTH),
    hit(3, "Rain falls in autumn here."),
)


@dataclass
class Scripted:
    """Scores by what a sentence holds."""

    table: dict[str, float]
    placeholder: float = 0.0
    titled: bool = False
    name: str = "scripted"
    sha256: str = "a" * 64
    seen: list[str] = field(default_factory=list)

    def scores(self, question: str, sentences: Sequence[str]) -> tuple[tuple[float, ...], float]:
        self.seen += sentences
        found = [max((v for k, v in self.table.items() if k in s), default=-9.0) for s in sentences]
        return tuple(found), self.placeholder


RIBE = {"Ribe": 3.0, "was the keeper": 2.0, "bees": 1.0, "tower": 2.5}


def select(organiser: Scripted, *assignments: str, decode: str = "plain", hits=HITS) -> Selection:
    tools = Tools(
        lambda _q, _k: hits, cast(Any, None), encode,
        settings_from(("ko-rag.least=1", *assignments)), decode, organiser=lambda: organiser,
    )  # fmt: skip
    return SELECTORS["ko-rag"].stage(QUESTION, hits, tools)


def texts(contexts) -> list[list[str]]:
    return [[sentence.text for sentence in context.sentences] for context in contexts]


def test_best_first_and_neighbours_of_a_passage_together() -> None:
    selection = select(Scripted(RIBE))
    assert texts(selection.documents) == [[BIRTH, TOWER], [KEEPER, BEES]]
    assert selection.documents == selection.sentences
    assert [source.sentence.text for source in sources_of(selection.documents)] == [
        BIRTH, TOWER, KEEPER, BEES,
    ]  # fmt: skip
    assert selection.noise is not None
    assert selection.noise.document.id == 3
    assert "4 of 5 sentences, 4 above the placeholder" in selection.by


def test_three_stay_where_the_cut_is_early() -> None:
    chosen = settings_from()
    tools = Tools(
        lambda _q, _k: HITS, cast(Any, None), encode, chosen, "plain",
        organiser=lambda: Scripted(RIBE, placeholder=9.0),
    )  # fmt: skip
    selection = SELECTORS["ko-rag"].stage(QUESTION, HITS, tools)
    assert texts(selection.documents) == [[BIRTH, TOWER], [KEEPER]]
    assert "3 of 5 sentences, 0 above the placeholder" in selection.by


def test_a_passage_may_stand_twice() -> None:
    selection = select(Scripted({**RIBE, "tower": 0.5}))
    assert texts(selection.documents) == [[BIRTH], [KEEPER, BEES], [TOWER]]


def test_short_sentences_are_not_scored() -> None:
    organiser = Scripted(RIBE)
    select(organiser)
    assert "They sang." not in organiser.seen
    only_short = (hit(1, "They sang.", "He came."),)
    assert texts(select(organiser, hits=only_short).documents) == [["They sang."]]


def test_incomplete_ones_neither_where_the_paper_is_followed() -> None:
    hits = (hit(1, KEEPER, "The list of all the keepers of the light"),)
    organiser = Scripted({})
    select(organiser, "ko-rag.clean=complete", hits=hits)
    assert organiser.seen == [KEEPER]
    select(organiser, hits=hits)
    assert len(organiser.seen) == 3


@pytest.mark.parametrize(
    ("assignments", "placeholder", "kept"),
    [
        ((), 2.2, 2),
        (("ko-rag.margin=0.5",), 2.2, 1),
        (("ko-rag.margin=-1.5",), 2.2, 4),
        (("ko-rag.most=1",), 0.0, 1),
        ((), 9.0, 1),
        (("ko-rag.least=0",), 9.0, 0),
        (("ko-rag.least=3",), 9.0, 3),
    ],
)
def test_the_cut(assignments: tuple[str, ...], placeholder: float, kept: int) -> None:
    selection = select(Scripted(RIBE, placeholder), *assignments)
    assert sum(map(len, texts(selection.documents))) == kept
    assert selection.organised is not None
    assert sum(one.kept for one in selection.organised.sentences) == kept


def test_sentences_are_read_under_their_title_where_it_was_trained_so() -> None:
    organiser = Scripted(RIBE, titled=True)
    select(organiser)
    assert organiser.seen[0] == f"Island: {KEEPER}"


def test_for_two_branches_passages_are_whole_and_sentences_organised() -> None:
    selection = select(Scripted(RIBE), "retrieval.k=1", decode="fke")
    assert texts(selection.documents) == [[KEEPER, BEES, "They sang."]]
    assert texts(selection.sentences) == [[BIRTH, TOWER], [KEEPER, BEES]]


def test_without_an_organiser_it_says_how_to_get_one(monkeypatch) -> None:
    monkeypatch.setattr("ragcli.encoders.organiser.shipped_organiser", lambda: None)
    tools = Tools(lambda _q, _k: HITS, cast(Any, None), encode, settings_from(), "plain")
    with pytest.raises(ModelError, match="no organizer"):
        Organise()(QUESTION, HITS, tools)


@pytest.mark.parametrize("base", [None, "crag", "dragin"])
def test_which_methods_need_one(base: str | None) -> None:
    assert organises(combined("ko-rag", base=base))
    assert organises(combined("fke", select="ko-rag", base=base))
    assert not organises(combined("fke", base=base))
    assert not organises(METHODS["closed-book"])


def test_the_catalogue_knows_its_settings() -> None:
    row = describe("ko-rag")
    assert {one.key for one in row.settings} >= {"ko-rag.margin", "ko-rag.least", "retrieval.k"}
    assert row.stages["select"].startswith("Organise. ")


def ask(organiser: Scripted, **options: Any) -> tuple[list[Any], Answer]:
    reader = FakeReader(*HITS)
    generator = FakeGenerator("Mira Oskan came from Ribe.")
    chosen = AskOptions(force=True, organiser=lambda: organiser, **options)
    with Asker(cast(Any, reader), generator, settings_from(), chosen) as asker:
        events = list(asker.ask(QUESTION, METHODS["ko-rag"]))
    assert isinstance(events[-1], Finished)
    return events, events[-1].answer


def test_the_answer_rests_on_the_order_and_records_it() -> None:
    events, answer = ask(Scripted(RIBE))
    assert [s.sentence.text for s in answer.selected] == [BIRTH, TOWER, KEEPER, BEES]
    (selected,) = [event for event in events if isinstance(event, Selected)]
    assert "organizer scripted (aaaaaaaaaaaa)" in selected.by
    organized = answer.provenance["organized"]
    assert (organized["name"], organized["placeholder"]) == ("scripted", 0.0)
    assert [one["kept"] for one in organized["sentences"]] == [True, True, True, True, False]
    document = answer_document(answer)
    assert [one["score"] for one in document["selected"]] == [3.0, 2.5, 2.0, 1.0]


def test_other_methods_record_none() -> None:
    reader = FakeReader(*HITS)
    with Asker(
        cast(Any, reader), FakeGenerator("Ribe."), settings_from(), AskOptions(force=True)
    ) as asker:
        *_, last = asker.ask(QUESTION, METHODS["plain"])
    assert isinstance(last, Finished)
    assert last.answer.provenance["organized"] is None
    assert "score" not in answer_document(last.answer)["selected"][0]


def test_verbatim_gives_the_first_of_the_order() -> None:
    _, answer = ask(Scripted({**RIBE, "tower": -1.0}), verbatim=True)
    assert answer.text.splitlines()[0] == BIRTH


def test_hits_are_left_alone() -> None:
    before = [replace(one) for one in HITS]
    select(Scripted(RIBE))
    assert list(HITS) == before
