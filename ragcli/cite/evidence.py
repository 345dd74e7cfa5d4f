"""Whether retrieved passages can hold the answer, before anything is generated.

Each constituent of the question must be found near one place: fully counted in the best
sentence, less in its neighbours, its passage, a passage whose title it names (`cite.bridge`), and
the other passages. The score of a place is
that weighted coverage plus the encoder's similarity of question and sentence; the best place
counts. On top stand two rules that need no score: a figure or ordinal of the question must be
there at all, and so must a time or number where one is asked for. Pure; thresholds were chosen
on questions with and without their source (tests/bench/abstain.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ragcli.cite import bridge
from ragcli.cite.question import Question, Term, keys_in, meets
from ragcli.text.normalise import readable
from ragcli.text.words import alike
from ragcli.types import Hit

NEIGHBOUR, PASSAGE, ELSEWHERE = 0.8, 0.6, 0.3  # what a constituent counts away from the sentence
BRIDGED = 0.7  # what it counts in a passage joined to the sentence by its title
RELATED = 0.8  # what a word of like meaning counts ("die", "death"), or a year of a decade
INFLECTED = 0.8  # what a word of the same beginning counts ("keeper", "keeping")


@dataclass(frozen=True, slots=True)
class Limits:
    """Scores (coverage 0..1 + cosine) from which the passages can hold the answer.

    entity_only: where nothing but names and figures of the question matched.
    name_missing: where a name of the question stands in no passage found.
    """

    enough: float = 1.1
    entity_only: float = 1.4
    name_missing: float = 1.4


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage as evidence: its sentences, their similarity to the question, what is above them.

    similarity: one a sentence, 0..1, or empty. context: title, headings, file name.
    titles: what the passage is about, by which another may name it.
    """

    sentences: tuple[str, ...]
    similarity: tuple[float, ...] = ()
    context: str = ""
    titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was found. enough: an answer may be tried; else `reason` says why not, for people."""

    score: float
    coverage: float
    similarity: float
    missing: tuple[str, ...]
    enough: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    score: float
    coverage: float
    similarity: float
    found: tuple[float, ...]  # per term, 0..1
    window: str


def view(hit: Hit) -> PassageView:
    """A hit as evidence."""
    document = hit.document
    context = f"{document.title} {hit.passage.heading} {document.relative}"
    texts = tuple(readable(sentence.text) for sentence in hit.passage.sentences)
    titles = (document.title, *hit.passage.heading.split(" > "))
    return PassageView(texts, hit.sentence_scores, context, titles)


def weigh(
    question: Question,
    passages: Sequence[PassageView],
    language: str = "en",
    limits: Limits | None = None,
) -> Evidence:
    """Judges retrieved passages; linear in their length times the question's.

    A question of stop words alone has nothing to miss: similarity decides.
    """
    if not passages:
        return Evidence(0.0, 0.0, 0.0, _texts(question.terms), False, "nothing was found")
    places = _places(question, passages, language)
    best = max(places, key=lambda place: place.score)
    anywhere = _most(place.found for place in places)
    missing = tuple(t for t, found in zip(question.terms, anywhere, strict=True) if not found)
    reason = _objection(question, best, missing, limits or Limits(), language)
    return Evidence(best.score, best.coverage, best.similarity, _texts(missing), not reason, reason)


def nearness(
    question: Question,
    evidence: Evidence,
    hits: Sequence[Hit],
    cited: Collection[int],
    language: str = "en",
) -> float:
    """How close the cited sentences (ids) are to the question, against the best place found.

    Each is weighed with its neighbours and, where it adds to it, with the place of another
    passage that a title joins it to; the ratio of scores or that of coverages, whichever is
    larger; 1 or more: the answer rests on the best place.
    """
    near = [0.0]
    views = [view(hit) for hit in hits]
    for number, (hit, whole) in enumerate(zip(hits, views, strict=True)):
        for at, sentence in enumerate(hit.passage.sentences):
            if sentence.id in cited:
                cut = slice(max(0, at - 1), at + 2)
                window = replace(
                    whole, sentences=whole.sentences[cut], similarity=whole.similarity[cut]
                )
                others = views[:number] + views[number + 1 :]
                for found in _alone_and_joined(question, window, others, language):
                    near.append(found.score / max(evidence.score, 1e-9))
                    near.append(found.coverage / max(evidence.coverage, 1e-9))
    return max(near)


def _alone_and_joined(
    question: Question, window: PassageView, others: Sequence[PassageView], language: str
) -> Iterator[_Place]:
    """The best place of the window, then the same with each place that it is joined to.

    Joined only where the window's own words, not its title, hold more of a constituent.
    """
    own = max(_places(question, [window], language), key=lambda place: place.score)
    yield own
    untitled = replace(window, context="", titles=())
    said = _most(place.found for place in _places(question, [untitled], language))
    titles = bridge.titles(window.titles, question.keys, language)
    names = bridge.names(" ".join(window.sentences), language)
    for other in others:
        theirs = bridge.titles(other.titles, question.keys, language)
        back = bridge.named(theirs, names, titles)
        for place in _places(question, [other], language):
            adds = any(more > less for more, less in zip(said, place.found, strict=True))
            if adds and (
                back or bridge.named(titles, bridge.names(place.window, language), theirs)
            ):
                yield _joined(question, own, place.found, place.similarity)


def _places(question: Question, passages: Sequence[PassageView], language: str) -> list[_Place]:
    keys = [[keys_in(question, s, language) for s in view.sentences] for view in passages]
    above = [keys_in(question, view.context, language) for view in passages]
    terms = question.terms
    in_passage = [
        tuple(max([_match(t, own), *(_match(t, k) for k in sentences)]) for t in terms)
        for own, sentences in zip(above, keys, strict=True)
    ]
    elsewhere = _most(in_passage)
    titles = [bridge.titles(view.titles, question.keys, language) for view in passages]
    places = []
    for number, (passage, sentences) in enumerate(zip(passages, keys, strict=True)):
        rows = [[_match(t, k) for t in terms] for k in sentences]
        for at in range(len(rows)):
            found = tuple(
                max(
                    rows[at][n],
                    NEIGHBOUR * max(row[n] for row in rows[max(0, at - 1) : at + 2]),
                    PASSAGE * in_passage[number][n],
                    ELSEWHERE * elsewhere[n],
                )
                for n in range(len(terms))
            )
            place = _place(question, passage, at, found)
            names = bridge.names(place.window, language) if any(titles) else frozenset()
            for other, found in enumerate(in_passage):
                if other != number and bridge.named(titles[other], names, titles[number]):
                    place = _joined(question, place, found)
            places.append(place)
    return places


def _most(rows: Iterable[tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(max(column) for column in zip(*rows, strict=True))


def _joined(
    question: Question, place: _Place, found: tuple[float, ...], similarity: float = 0.0
) -> _Place:
    """The place with what a passage joined to it holds, at a discount."""
    both = _most([place.found, tuple(BRIDGED * one for one in found)])
    coverage = _coverage(question, both)
    similar = max(place.similarity, BRIDGED * similarity)
    return _Place(coverage + similar, coverage, similar, both, place.window)


def _place(question: Question, passage: PassageView, at: int, found: tuple[float, ...]) -> _Place:
    coverage = _coverage(question, found)
    similarity = max(0.0, passage.similarity[at]) if passage.similarity else coverage
    window = " ".join(passage.sentences[max(0, at - 1) : at + 2])
    return _Place(coverage + similarity, coverage, similarity, found, window)


def _coverage(question: Question, found: tuple[float, ...]) -> float:
    total = sum(term.weight for term in question.terms)
    weighted = sum(t.weight * f for t, f in zip(question.terms, found, strict=True))
    return weighted / total if total else 1.0


def _objection(
    question: Question, best: _Place, missing: Sequence[Term], limits: Limits, language: str
) -> str:
    """Why the passages cannot hold the answer; empty when they may."""
    hinges = [t.text for t in missing if t.kind == "ordinal" or _is_figure(t)]
    if hinges:
        return f"the documents found do not mention “{hinges[0]}”"
    if question.strict and not meets(question.expects, best.window, question.keys, language):
        wanted = {"time": "a time", "number": "a number"}[question.expects]
        return f"the question asks for {wanted}, and the passages found give none"
    if best.score >= _needed(question, best, missing, limits):
        return ""
    if missing:
        return f"the documents found say nothing of {_listed(_texts(missing))}"
    return "no passage is close enough to the question"


def _needed(question: Question, best: _Place, missing: Sequence[Term], limits: Limits) -> float:
    """The score that suffices; more where a name, or all that is asked of it, is missing."""
    needed = [limits.enough]
    plain = [f for t, f in zip(question.terms, best.found, strict=True) if t.kind == "word"]
    if plain and not any(plain):
        needed.append(limits.entity_only)
    if any(term.kind == "name" for term in missing):
        needed.append(limits.name_missing)
    return max(needed)


def _is_figure(term: Term) -> bool:
    return term.kind == "number" and term.text[0].isdigit()


def _match(term: Term, keys: frozenset[str]) -> float:
    """1 for the word itself, less for one of like meaning or of the same beginning, else 0."""
    if not keys.isdisjoint(term.alternatives):
        return 1.0
    if term.related & keys:
        return RELATED
    if term.kind in ("number", "ordinal"):
        return 0.0
    return INFLECTED if any(alike(term.alternatives[0], key) for key in keys) else 0.0


def _texts(terms: Iterable[Term]) -> tuple[str, ...]:
    return tuple(term.text for term in terms)


def _listed(texts: Sequence[str]) -> str:
    quoted = [f"“{text}”" for text in texts[:3]]
    return " or ".join(quoted)
