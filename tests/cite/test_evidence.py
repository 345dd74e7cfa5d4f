"""Whether passages can hold the answer. Similarities are hand-made unless marked `model`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cite.evidence import Limits, PassageView, nearness, view, weigh
from ragcli.cite.question import parse_question
from ragcli.cite.related import with_related
from ragcli.cite.support import NEAR
from ragcli.types import Hit
from tests.methods.fakes import hit

ISLAND = PassageView(
    ("Mira Oskan was the first keeper of the Sandholm light.", "She kept bees."),
    (0.6, 0.3),
    "island",
)


@pytest.mark.parametrize(
    ("question", "enough", "reason"),
    [
        ("Who was the first keeper?", True, ""),
        ("What is the capital of Italy?", False, "Italy"),
        ("Who was the second keeper of the Sandholm light?", False, "second"),
        ("Who was the last keeper of the Sandholm light?", False, "last"),
        ("When did Mira Oskan die?", False, "time"),
        ("How many children did Mira Oskan have?", False, "number"),
        ("Where was Mira Oskan born?", False, "born"),
        ("How is the door of room 23 opened?", False, "23"),
    ],
)
def test_island(question: str, enough: bool, reason: str) -> None:
    evidence = weigh(parse_question(question), [ISLAND])
    assert evidence.enough is enough
    assert reason in evidence.reason
    assert bool(evidence.reason) is not enough


def test_nothing_found() -> None:
    evidence = weigh(parse_question("Who was the first keeper?"), [])
    assert not evidence.enough
    assert evidence.missing == ("first", "keeper")


def test_the_score_is_coverage_plus_similarity() -> None:
    # "boiler" in the sentence counts 1, "pressure" beside it 0.8, "limit" in the heading 0.6:
    # coverage (1 + 0.8 + 0.6) / 3 = 0.8, plus the cosine 0.5
    passage = PassageView(("The boiler is old.", "Its pressure is low."), (0.5, 0.1), "limit")
    evidence = weigh(parse_question("boiler pressure limit"), [passage])
    assert evidence.score == pytest.approx(1.3)
    assert evidence.coverage == pytest.approx(0.8)


def test_a_word_in_another_passage_counts_little() -> None:
    passages = [PassageView(("The boiler is old.",), (0.5,)), PassageView(("A limit.",), (0.0,))]
    # (1 + 0.3) / 2 + 0.5
    assert weigh(parse_question("boiler limit"), passages).score == pytest.approx(1.15)


def test_a_missing_name_needs_more() -> None:
    question = parse_question("Who was the first keeper of the Nordby light?")
    passage = replace(ISLAND, similarity=(0.6, 0.3))
    assert not weigh(question, [passage]).enough
    assert weigh(question, [passage], limits=Limits(name_missing=1.1)).enough


def test_words_of_like_meaning_count() -> None:
    vectors = {"die": [1.0, 0.0], "death": [0.8, 0.6], "year": [0.0, 1.0]}

    def encode(texts: list[str]) -> np.ndarray:  # type: ignore[type-arg]
        return np.asarray([vectors[text] for text in texts], dtype=np.float32)

    passages = [PassageView(("death year",), (0.3,))]
    question = parse_question("die")
    widened = with_related(question, passages, encode)  # type: ignore[arg-type]
    assert weigh(question, passages).coverage == 0.0
    assert widened.terms[0].related == frozenset({"death"})
    assert weigh(widened, passages).coverage == pytest.approx(0.8)
    assert question.terms[0].related == frozenset()


def test_nothing_is_encoded_when_nothing_is_missing() -> None:
    def refuse(texts: object) -> np.ndarray:  # type: ignore[type-arg]
        raise AssertionError(texts)

    question = parse_question("Who kept bees?")
    assert with_related(question, [ISLAND], refuse) == question


@given(st.text(max_size=60), st.lists(st.text(max_size=40), min_size=1, max_size=3))
def test_scores_stay_in_range(question: str, sentences: list[str]) -> None:
    passage = PassageView(tuple(sentences), (0.5,) * len(sentences))
    evidence = weigh(parse_question(question), [passage])
    assert 0.0 <= evidence.coverage <= 1.0 + 1e-9
    assert evidence.enough == (not evidence.reason)


@given(st.sampled_from(["keeper", "Sandholm", "first", "bees"]), st.floats(0, 1))
def test_a_found_word_never_lowers_the_score(word: str, similarity: float) -> None:
    question = parse_question("Who was the first keeper of the Sandholm light with bees?")
    poor = PassageView(("A light.",), (similarity,))
    rich = PassageView((f"A light and {word}.",), (similarity,))
    assert weigh(question, [rich]).score >= weigh(question, [poor]).score


def test_nearness_is_against_the_best_place() -> None:
    found = hit(
        1, "The boiler limit is low.", "It is red.", "It is old.", "The limit.", similarity=0.5
    )
    question = parse_question("boiler limit")
    evidence = weigh(question, [view(found)])
    first, _, _, last = found.passage.sentences
    assert evidence.score == pytest.approx(1.5)
    assert nearness(question, evidence, [found], [first.id]) == pytest.approx(1.0)
    # one of two words: (0.5 + 0.5) / 1.5 against 0.5 / 1
    assert nearness(question, evidence, [found], [last.id]) == pytest.approx(2 / 3)
    assert nearness(question, evidence, [found], []) == 0.0


FILM = PassageView(
    ("The Long Night is a film of 1961.", "It was directed by Ada Berg."), (0.6, 0.4),
    "The Long Night", ("The Long Night (film)",),
)  # fmt: skip
TWO_STEPS = parse_question("In which town was the director of The Long Night born?")


def person(name: str, *texts: str, similarity: float = 0.3) -> PassageView:
    return PassageView(texts, (similarity,) * len(texts), name, (name,))


@pytest.mark.parametrize(
    ("other", "joined"),
    [
        (person("Ada Berg", "She was born in the town of Moss."), True),
        (person("Ada Berg (artist)", "She was born in the town of Moss."), True),
        (person("Ada Dahl", "She was born in the town of Moss."), False),
        (person("The Long Night", "He was born in the town of Moss."), False),
        (person("film", "He was born in the town of Moss."), False),
        (person("", "She was born in the town of Moss."), False),
    ],
)
def test_a_title_joins_two_places(other: PassageView, joined: bool) -> None:
    # "born" and "town" count 0.7 from the passage that the place names, 0.3 from any other;
    # "Long" and "Night" weigh 1.5, "director" is the beginning of "directed"
    evidence = weigh(TWO_STEPS, [FILM, other])
    alone = weigh(TWO_STEPS, [replace(FILM, titles=()), replace(other, titles=())])
    assert evidence.coverage - alone.coverage == pytest.approx(0.8 / 6 if joined else 0.0)
    assert evidence.missing == alone.missing


def two_steps(title: str, said: str) -> tuple[Hit, Hit]:
    film = hit(1, "The Long Night was directed by Ada Berg.", similarity=0.7)
    other = hit(2, said, similarity=0.2)
    return (
        replace(film, document=replace(film.document, title="The Long Night")),
        replace(other, document=replace(other.document, title=title)),
    )


@pytest.mark.parametrize(
    ("title", "said", "near"),
    [
        ("Ada Berg", "She was born in the town of Moss.", True),
        ("Somebody", "Ada Berg was born in the town of Moss.", False),  # the name is no title
        ("Ada Dahl", "She was born in the town of Moss.", False),
        ("Ada Berg", "She kept bees.", False),  # joined, but it says nothing that was asked
    ],
)
def test_a_sentence_is_near_through_a_title(title: str, said: str, near: bool) -> None:
    hits = two_steps(title, said)
    evidence = weigh(TWO_STEPS, [view(one) for one in hits])
    cited = hits[1].passage.sentences[0].id
    assert (nearness(TWO_STEPS, evidence, hits, [cited]) >= NEAR) is near


def test_a_sentence_that_names_the_title_of_the_best_place_is_near() -> None:
    best = hit(1, "The best novel of 1961 won the Moss prize.", similarity=0.7)
    best = replace(best, document=replace(best.document, title="Salt Water"))
    question = parse_question("Who published the best novel of 1961, which won the Moss prize?")
    evidence = weigh(question, [view(best)])
    for text, near in (("Salt Water was published by Berg.", True), ("Berg published it.", False)):
        other = hit(2, text, similarity=0.2)
        found = nearness(question, evidence, [best, other], [other.passage.sentences[0].id])
        assert (found >= NEAR) is near


def test_a_title_of_both_joins_nothing() -> None:
    film = replace(FILM, titles=("Ada Berg",))
    other = person("Ada Berg", "She was born in the town of Moss.")
    alone = [replace(film, titles=()), replace(other, titles=())]
    assert weigh(TWO_STEPS, [film, other]).score == weigh(TWO_STEPS, alone).score
    hits = tuple(
        replace(one, document=replace(one.document, title="Ada Berg"))
        for one in two_steps("Ada Berg", "She was born in the town of Moss.")
    )
    evidence = weigh(TWO_STEPS, [view(one) for one in hits])
    assert nearness(TWO_STEPS, evidence, hits, [hits[1].passage.sentences[0].id]) < NEAR
