"""Which source sentences does an answer sentence rest on? Pure given scores.

A source's score is a weighted sum of three signals, each in 0..1: attention (how far the
answer sentence's tokens turned to it), similarity (cosine under the
encoder), overlap (share of the claim's words it holds, rare words, names and figures
weighing more). Sources are then added while they cover more of the claim. Weights were
chosen on labelled questions (tests/bench/attribution.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragcli.cite.claims import (
    bare,
    claims,
    false_quotations,
    is_filler,
    is_refusal,
    step_ranges,
)
from ragcli.cite.claims import with_question as in_context
from ragcli.cite.verify import Verifier, verdict
from ragcli.text.normalise import readable
from ragcli.text.words import Word, keys_of, words
from ragcli.types import AnswerSentence, Citation, Document, Source, Span, Step, Verdict

Scores = NDArray[np.float64]
# (claims, sources) texts → (claims, sources) cosines
Similarity = Callable[[Sequence[str], Sequence[str]], NDArray[np.float32]]

_STEP_DOWN = " > "
_KIND = {"name": 1.5, "number": 2.0, "ordinal": 1.5, "word": 1.0}


@dataclass(frozen=True, slots=True)
class AttributionOptions:
    """Weights of the signals and limits.

    floor: a best source below it is no citation. gain: how much more of the claim (0..1)
    a further source must cover. asked: weight of a question's word against the answer's own.
    """

    attention: float = 0.15
    similarity: float = 0.4
    overlap: float = 1.0
    asked: float = 0.3
    floor: float = 0.25
    gain: float = 0.2
    most: int = 3


def attribute(
    question: str,
    text: str,
    steps: Sequence[Step],
    sources: Sequence[Source],
    documents: Mapping[int, Document],
    similarity: Similarity,
    verifier: Verifier,
    *,
    options: AttributionOptions | None = None,
    language: str = "en",
) -> tuple[AnswerSentence, ...]:
    """The answer's sentences with their citations, numbered over the answer by first use.

    text: the answer. steps: what generated it, empty if nothing did. sources: the main
    branch's source sentences, in the order of `Step.attention`. documents: by id, at least
    those of the sources.
    """
    options = options or AttributionOptions()
    spans = claims(text, language)
    stated = [span.of(text) for span in spans]
    if not spans:
        return ()
    scores = score_sources(question, text, spans, steps, sources, similarity, options, language)
    chosen = [
        ()
        if is_filler(said) or is_refusal(said) or _is_path(said, sources, documents, language)
        else choose(in_context(said, question, language), row, sources, options, language)
        for said, row in zip(stated, scores, strict=True)
    ]
    judged = judge(question, stated, chosen, sources, documents, verifier, language)
    numbers: dict[int, int] = {}
    texts = [source.sentence.text for source in sources]
    result = []
    for span, said, picked, row, (one, alone) in zip(
        spans, stated, chosen, scores, judged, strict=True
    ):
        citations = tuple(
            _citation(sources[i], float(row[i]), verdict(verifier, score), documents, numbers)
            for i, score in zip(picked, alone, strict=True)
        )
        quotations = false_quotations(said, texts)
        result.append(AnswerSentence(span, said, citations, one, quotations))
    return tuple(result)


def _is_path(
    said: str, sources: Sequence[Source], documents: Mapping[int, Document], language: str
) -> bool:
    """Whether it is the line of headings over a source, copied from the prompt: no statement."""
    if _STEP_DOWN not in said:
        return False
    own = keys_of(said, language)
    return any(own <= keys_of(_above(source, documents), language) for source in sources)


def _above(source: Source, documents: Mapping[int, Document]) -> str:
    """Title and headings that a sentence stands under."""
    title = documents[source.sentence.document_id].title
    return _STEP_DOWN.join(part for part in (title, source.sentence.heading) if part)


def _citation(
    source: Source,
    score: float,
    judged: Verdict,
    documents: Mapping[int, Document],
    numbers: dict[int, int],
) -> Citation:
    sentence = source.sentence
    number = numbers.setdefault(sentence.id, len(numbers) + 1)
    return Citation(number, documents[sentence.document_id], sentence, score, judged)


def score_sources(
    question: str,
    text: str,
    spans: Sequence[Span],
    steps: Sequence[Step],
    sources: Sequence[Source],
    similarity: Similarity,
    options: AttributionOptions,
    language: str = "en",
) -> Scores:
    """(claims, sources) scores: the weighted signals over the sum of the weights in play.

    A heading scores 0: it states nothing that could be cited.
    """
    if not sources:
        return np.zeros((len(spans), 0))
    stated = [in_context(span.of(text), question, language) for span in spans]
    texts = [readable(source.sentence.text) for source in sources]
    attention = attention_shares(text, spans, steps, len(sources))
    total = options.similarity * np.clip(similarity(stated, texts), 0.0, 1.0).astype(np.float64)
    said = [bare(span.of(text)) for span in spans]
    total += options.overlap * overlaps(said, question, texts, options.asked, language)
    weight = options.similarity + options.overlap
    if attention is not None:
        total += options.attention * attention
        weight += options.attention
    stating = np.array([not source.sentence.is_heading for source in sources])
    return np.asarray(total / weight * stating)


def attention_shares(
    text: str, spans: Sequence[Span], steps: Sequence[Step], sources: int
) -> Scores | None:
    """(claims, sources): how far a claim's tokens turned to each source, scaled to a maximum of 1.

    Every token pays most attention to the same few places, whatever it says; what tells is
    the rise. So: a source's share of the attention on sources, less its median share over
    the answer, at most over the claim's tokens. Sources after those that the steps looked at
    (of another branch) have none. None where no step has attention.
    """
    looked = len(steps[0].attention) if steps else 0
    if not 0 < looked <= sources or any(len(step.attention) != looked for step in steps):
        return None
    raw = "".join(step.text for step in steps)
    ranges = step_ranges(steps, len(raw) - len(raw.lstrip()))
    masses = np.zeros((len(steps), sources))
    masses[:, :looked] = [step.attention for step in steps]
    whole = masses.sum(axis=1, keepdims=True)
    shares = masses / np.where(whole > 0, whole, 1.0)
    rises = np.clip(shares - np.median(shares, axis=0), 0.0, None)
    result = np.zeros((len(spans), sources))
    for row, span in enumerate(spans):
        inside = [a < span.end and b > span.start for a, b in ranges]
        if any(inside):
            result[row] = rises[inside].max(axis=0)
    top = result.max(axis=1, keepdims=True)
    scaled: Scores = result / np.where(top > 0, top, 1.0)
    return scaled


def overlaps(
    said: Sequence[str], question: str, sources: Sequence[str], asked: float, language: str = "en"
) -> Scores:
    """(claims, sources): weighted share of a claim's words that each source holds.

    A word weighs by its kind and by its rarity over the sources (idf); a word of the
    question that the claim leaves out, or merely repeats, weighs `asked` of that.
    """
    known = [frozenset(w.key for w in words(source, language)) for source in sources]
    in_question = {w.key: w for w in words(question, language) if w.kind != "stop"}
    result = np.zeros((len(said), len(sources)))
    for row, sentence in enumerate(said):
        own = {w.key: w for w in words(sentence, language) if w.kind != "stop"}
        weights = {
            key: _weight(word, known) * (asked if key in in_question else 1.0)
            for key, word in (in_question | own).items()
        }
        total = sum(weights.values())
        if total:
            result[row] = [sum(w for k, w in weights.items() if k in keys) for keys in known]
            result[row] /= total
    return result


def _weight(word: Word, known: Sequence[frozenset[str]]) -> float:
    holders = sum(word.key in keys for keys in known)
    return _KIND[word.kind] * math.log(1.0 + (len(known) + 1.0) / (holders + 0.5))


def choose(
    claim: str,
    scores: Scores,
    sources: Sequence[Source],
    options: AttributionOptions,
    language: str = "en",
) -> tuple[int, ...]:
    """Indices of the smallest set of sources that covers the claim, best first, or none.

    Starts from the best score; adds the source that covers most of what is not covered
    yet, as long as that is at least `gain` of the claim.
    """
    if not len(scores) or scores.max() < options.floor:
        return ()
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    known = [frozenset(w.key for w in words(readable(s.sentence.text), language)) for s in sources]
    claimed = {w.key: _KIND[w.kind] for w in words(claim, language) if w.kind != "stop"}
    total = sum(claimed.values())
    chosen = [order[0]]
    covered = known[order[0]] & claimed.keys()
    while total and len(chosen) < options.most:
        gains = {
            i: sum(claimed[key] for key in (known[i] & claimed.keys()) - covered) / total
            for i in order
            if i not in chosen and scores[i] >= options.floor
        }
        best = max(gains, key=lambda i: gains[i], default=None)
        if best is None or gains[best] < options.gain:
            break
        chosen.append(best)
        covered |= known[best] & claimed.keys()
    return tuple(chosen)


def judge(
    question: str,
    stated: Sequence[str],
    chosen: Sequence[Sequence[int]],
    sources: Sequence[Source],
    documents: Mapping[int, Document],
    verifier: Verifier,
    language: str,
) -> list[tuple[Verdict, list[float]]]:
    """Per claim: the verdict under all its sources together, and the score under each alone."""
    premises: list[str] = []
    hypotheses: list[str] = []
    for said, picked in zip(stated, chosen, strict=True):
        groups = [picked, *((i,) for i in picked)] if picked else []
        premises += [premise([sources[i] for i in group], documents) for group in groups]
        hypotheses += [in_context(said, question, language)] * len(groups)
    scores = iter(verifier.entails(premises, hypotheses))
    judged: list[tuple[Verdict, list[float]]] = []
    for picked in chosen:
        if not picked:
            judged.append((Verdict.UNSUPPORTED, []))
            continue
        together = next(scores)
        alone = [next(scores) for _ in picked]
        judged.append((verdict(verifier, max(together, *alone)), alone))
    return judged


def premise(sources: Sequence[Source], documents: Mapping[int, Document]) -> str:
    """The cited sentences, each after the title and heading it stands under where they change."""
    parts: list[str] = []
    last = ""
    for source in sources:
        above = _above(source, documents)
        if above and above != last:
            parts.append(f"{above}:")
            last = above
        parts.append(readable(source.sentence.text))
    return " ".join(parts)
