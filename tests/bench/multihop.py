"""HotpotQA as the checks before and after generation meet it, for `abstain.py`.

Of each question's own passages the best `kept` are judged: with all passages there, and with those
taken away that hold a gold sentence; `gold` judges the gold sentences alone. Sentence similarities
are filled as the reader fills them. After generation, the gold answer citing the gold sentence that
holds it is set against a name or figure of another sentence, citing that one. Nothing is generated.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from passages import Encode, item, rows
from xquad import encoder

from ragcli.cite import support
from ragcli.cite.evidence import Evidence, nearness, view, weigh
from ragcli.cite.question import Question, parse_question
from ragcli.cite.related import with_related
from ragcli.index.scoring import by_similarity
from ragcli.methods.ggatrieval import remembered
from ragcli.text.words import keys_of, words
from ragcli.types import AnswerSentence, Citation, Hit, Sentence, Span, Verdict

KEPT = 3  # passages judged, the default of `retrieval.k`


@dataclass(frozen=True, slots=True)
class Case:
    """A question with what would be read for it, and two answers to it.

    right, wrong: an answer's text and the sentences that it cites, the one that holds it first;
    None where no sentence of `there` holds one.
    """

    question: str
    there: tuple[Hit, ...]
    gone: tuple[Hit, ...]
    gold: tuple[Hit, ...]
    right: tuple[str, tuple[int, ...]] | None
    wrong: tuple[str, tuple[int, ...]] | None


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks say of one case; of an answer, its nearness and the objection to it."""

    there: Evidence
    gone: Evidence
    gold: Evidence
    right: tuple[float, str] | None
    wrong: tuple[float, str] | None
    gold_right: tuple[float, str] | None


def cases(count: int, seed: int, kept: int, encode: Encode) -> list[Case]:
    """The first `count` questions, in the order of the set."""
    drawn = random.Random(seed)
    return [_case(row, encode, kept, drawn) for row in rows("hotpotqa_dev", count)]


def _case(row: dict[str, Any], encode: Encode, kept: int, drawn: random.Random) -> Case:
    question = str(row["question"])
    found = item(row, encode)
    vector = encode([question])[0]
    scores = by_similarity([hit.passage for hit in found.hits], vector, encode)
    hits = [replace(hit, sentence_scores=own) for hit, own in zip(found.hits, scores, strict=True)]
    gone = tuple(hit for hit in hits if hit.passage.id not in found.gold_passages)[:kept]
    gold = tuple(_only(hit, found.gold) for hit in hits if hit.passage.id in found.gold_passages)
    answer = str(row["answers"][0])
    there = tuple(hits[:kept])
    return Case(
        question,
        there,
        gone,
        gold,
        _right(answer, there, found.gold),
        _wrong(question, answer, there, found.gold, drawn),
    )


def _only(hit: Hit, wanted: frozenset[int]) -> Hit:
    """The hit with those of its sentences."""
    pairs = zip(hit.passage.sentences, hit.sentence_scores, strict=True)
    kept = [(sentence, score) for sentence, score in pairs if sentence.id in wanted]
    passage = replace(hit.passage, sentences=tuple(sentence for sentence, _ in kept))
    return replace(hit, passage=passage, sentence_scores=tuple(score for _, score in kept))


def _right(
    answer: str, hits: Sequence[Hit], gold: frozenset[int]
) -> tuple[str, tuple[int, ...]] | None:
    """The gold answer with the gold sentences that were retrieved; the one that says it first.

    None where none of them says it, unless it is a yes or a no.
    """
    cited = [s for hit in hits for s in hit.passage.sentences if s.id in gold]
    said = keys_of(answer)
    cited.sort(key=lambda sentence: -len(said & keys_of(sentence.text)))
    if not cited or not said <= keys_of(cited[0].text):
        return None
    return answer, tuple(sentence.id for sentence in cited)


def _wrong(
    question: str, answer: str, hits: Sequence[Hit], gold: frozenset[int], drawn: random.Random
) -> tuple[str, tuple[int, ...]] | None:
    """A name or figure of a sentence that is not gold, which neither question nor answer holds."""
    asked = parse_question(question)
    known = asked.keys | keys_of(answer)
    kinds = ("number",) if asked.expects in ("time", "number") else ("name",)
    found = [
        (run, (sentence.id,))
        for hit in hits
        for sentence in hit.passage.sentences
        if sentence.id not in gold
        for run in _runs(sentence.text, kinds)
        if keys_of(run) and known.isdisjoint(keys_of(run))
    ]
    return drawn.choice(found) if found else None


def _runs(text: str, kinds: Sequence[str]) -> list[str]:
    """Names of several words, and figures, as they stand."""
    found: list[tuple[int, int]] = []
    for word in words(text):
        if word.kind not in kinds:
            continue
        if found and text[found[-1][1] : word.start] == " ":
            found[-1] = (found[-1][0], word.end)
        else:
            found.append((word.start, word.end))
    return [text[start:end] for start, end in found]


def check(case: Case, encode: Encode) -> Checked:
    """Both checks, as `ask` has them."""
    there = _weighed(case.question, case.there, encode)
    gone = _weighed(case.question, case.gone, encode)
    gold = _weighed(case.question, case.gold, encode)
    return Checked(
        there[1],
        gone[1],
        gold[1],
        _after(case.right, *there, case.there),
        _after(case.wrong, *there, case.there),
        _after(case.right, *gold, case.gold),
    )


def _weighed(question: str, hits: Sequence[Hit], encode: Encode) -> tuple[Question, Evidence]:
    passages = [view(hit) for hit in hits]
    asked = with_related(parse_question(question), passages, encode)
    return asked, weigh(asked, passages)


def _after(
    answer: tuple[str, tuple[int, ...]] | None,
    asked: Question,
    evidence: Evidence,
    hits: Sequence[Hit],
) -> tuple[float, str] | None:
    """Nearness of what the answer cites, and the objection to it; empty: it stands."""
    if answer is None:
        return None
    text, cited = answer
    known = {s.id: (hit, s) for hit in hits for s in hit.passage.sentences}
    sentence = AnswerSentence(
        Span(0, len(text)),
        text,
        tuple(_citation(number, *known[id]) for number, id in enumerate(cited, 1)),
        Verdict.SUPPORTED,
    )
    near = nearness(asked, evidence, hits, {cited[0]})
    texts = [s.text for _, s in known.values()] + [hit.document.title for hit in hits]
    return near, support.objection(asked, [sentence], support.Shown(texts, evidence.score, near))


def _citation(number: int, hit: Hit, sentence: Sentence) -> Citation:
    return Citation(number, hit.document, sentence, 1.0, Verdict.SUPPORTED)


def table(checked: Sequence[Checked]) -> dict[str, float]:
    """Shares of questions refused, and how well each score alone separates the two."""
    there, gone = [c.there for c in checked], [c.gone for c in checked]
    right = [c.right for c in checked if c.right]
    wrong = [c.wrong for c in checked if c.wrong]
    alone = [c.gold_right for c in checked if c.gold_right]
    both = [c for c in checked if c.right]
    return {
        "questions": len(checked),
        "auroc": auroc([e.score for e in there], [e.score for e in gone]),
        "abstained_with_source": _share([not e.enough for e in there]),
        "abstained_without_source": _share([not e.enough for e in gone]),
        "abstained_with_gold_alone": _share([not c.gold.enough for c in checked]),
        "near_auroc": auroc([near for near, _ in right], [near for near, _ in wrong]),
        "right_answer_refused": _share([bool(why) for _, why in right]),
        "wrong_answer_refused": _share([bool(why) for _, why in wrong]),
        "right_answer_refused_gold_alone": _share([bool(why) for _, why in alone]),
        "right_refused_by_either": _share(
            [not c.there.enough or bool(cast(Any, c.right)[1]) for c in both]
        ),
    }


def _share(flags: Sequence[bool]) -> float:
    return round(sum(flags) / len(flags), 4) if flags else 0.0


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Share of pairs in the right order, ties half."""
    pairs = [(p > n) + 0.5 * (p == n) for p in positive for n in negative]
    return round(sum(pairs) / len(pairs), 4)


def measure(count: int, seed: int, kept: int = KEPT) -> dict[str, dict[str, float]]:
    """A row over all questions and one over each half (even and odd places)."""
    encode = remembered(encoder()().encode)
    done = [check(case, encode) for case in cases(count, seed, kept, encode)]
    parts = {"hotpotqa": done, "even": done[::2], "odd": done[1::2]}
    return {name: table(part) for name, part in parts.items()}
