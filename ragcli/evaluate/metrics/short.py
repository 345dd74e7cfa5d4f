"""One short answer against its aliases: exact match, token F1, contains.

Source: Rajpurkar et al. 2016, SQuAD (exact match and token F1, the best alias counts); the
evaluation scripts of HotpotQA and ALCE normalise alike.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

from ragcli.evaluate.metrics.averages import harmonic

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_ASCII_MARKS = frozenset(string.punctuation)


def normalise(text: str) -> str:
    """Lower case, no punctuation, no English articles, single blanks.

    As SQuAD does it, and beyond ASCII: punctuation of every script goes, composed and
    decomposed letters are the same. What would leave nothing ("The", "!") keeps its marks
    and articles, since the empty text is a part of every text.
    """
    folded = unicodedata.normalize("NFC", text).lower()
    bare = "".join(mark for mark in folded if not _is_mark(mark))
    return " ".join(_ARTICLES.sub(" ", bare).split()) or " ".join(folded.split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """1 if the prediction is one of the aliases after `normalise`. Raises ValueError without one."""
    said = normalise(prediction)
    return float(any(said == normalise(answer) for answer in _some(answers)))


def token_f1(prediction: str, answers: Sequence[str]) -> float:
    """Harmonic mean of token precision and recall, of the best alias.

    Raises ValueError without an alias.
    """
    said = Counter(normalise(prediction).split())
    return max(_f1(said, Counter(normalise(answer).split())) for answer in _some(answers))


def contains(prediction: str, answers: Sequence[str]) -> float:
    """1 if an alias stands in the prediction as whole words; long answers are favoured.

    Raises ValueError without an alias.
    """
    said = normalise(prediction)
    return float(any(_holds(said, normalise(answer)) for answer in _some(answers)))


def answer_length(prediction: str) -> float:
    """Words (by white space) of the prediction as it is."""
    return float(len(prediction.split()))


def spaceless(text: str) -> bool:
    """Whether the text has letters of a script that sets words not apart (Thai, Chinese, …)."""
    return any("\u0e00" <= letter <= "\u0eff" or letter >= "\u2e80" for letter in text)


def _is_mark(character: str) -> bool:
    return character in _ASCII_MARKS or unicodedata.category(character).startswith("P")


def _some(answers: Sequence[str]) -> Sequence[str]:
    if not answers:
        raise ValueError("no answer to compare with")
    return answers


def _f1(said: Counter[str], wanted: Counter[str]) -> float:
    common = (said & wanted).total()
    if not common:
        return float(said == wanted)
    return harmonic(common / said.total(), common / wanted.total())


def _holds(text: str, phrase: str) -> bool:
    if spaceless(phrase):
        return phrase in text
    return f" {phrase} " in f" {text} "
