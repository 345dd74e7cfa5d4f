"""ROUGE-L and BLEU-1 against reference texts, by the libraries that others report with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ragcli.errors import UsageError
from ragcli.evaluate.metrics.short import spaceless

_INSTALL = "pip install 'ragcli[eval]'"
_TERM = re.compile(r"[\u0e00-\u0eff\u2e80-\U0010ffff]|[^\W\u0e00-\u0eff\u2e80-\U0010ffff]+")
_LAST_LATIN = "\u024f"


def rouge_l(prediction: str, references: Sequence[str]) -> float:
    """F-measure of the longest common subsequence (Lin 2004), of the best reference.

    rouge-score with stemming. Its tokenizer knows Latin letters only: where the texts have
    others, words (or single letters, where words are not set apart) are compared unstemmed.
    Raises ValueError without a reference, UsageError where rouge-score is missing.
    """
    _some(references)
    other = any(letter.isalpha() and letter > _LAST_LATIN for letter in "".join(references))
    return float(_rouge(other).score_multi(list(references), prediction)["rougeL"].fmeasure)


def bleu_1(prediction: str, references: Sequence[str]) -> float:
    """Clipped unigram precision times the brevity penalty (Papineni et al. 2002), in 0..1.

    sacrebleu, lower case, unsmoothed. Raises ValueError without a reference, UsageError where
    sacrebleu is missing.
    """
    tokenizer = "char" if any(spaceless(one) for one in _some(references)) else "13a"
    score = _bleu(tokenizer).sentence_score(prediction, list(references)).score / 100
    return float(min(1.0, max(0.0, score)))  # rounding, as in 1.0000000000000002


@lru_cache
def _rouge(other_letters: bool) -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise UsageError("ROUGE-L needs the package rouge-score", hint=_INSTALL) from error
    return RougeScorer(["rougeL"], use_stemmer=True, tokenizer=_Words() if other_letters else None)


@lru_cache
def _bleu(tokenizer: str) -> Any:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise UsageError("BLEU-1 needs the package sacrebleu", hint=_INSTALL) from error
    return BLEU(
        max_ngram_order=1,
        smooth_method="none",
        lowercase=True,
        tokenize=tokenizer,
        effective_order=True,
    )


class _Words:
    """Words of every script, as rouge-score asks for them."""

    def tokenize(self, text: str) -> list[str]:
        return _TERM.findall(text.lower())


def _some(references: Sequence[str]) -> Sequence[str]:
    if not references:
        raise ValueError("no reference to compare with")
    return references
