"""Several short answers, each with its aliases: in prose (ASQA) or as a list (QAMPARI).

Source: Gao et al. 2023, ALCE, section 4.1 and its evaluation script. EM-R of paper 004 is
`str_em`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragcli.evaluate.metrics.averages import harmonic, share
from ragcli.evaluate.metrics.short import normalise

Parts = Sequence[Sequence[str]]

TOP = 5  # answers that recall-5 asks for
_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,3}[.):])\s+")


def str_em(prediction: str, parts: Parts) -> float:
    """Share of the short answers of which an alias is a substring of the prediction.

    Both sides normalised; inside words as well, as ALCE counts. Raises ValueError without parts.
    """
    return share(_present(prediction, parts))


def str_hit(prediction: str, parts: Parts) -> float:
    """1 if every short answer is there. Raises ValueError without parts."""
    return float(str_em(prediction, parts) == 1.0)


def list_items(prediction: str) -> tuple[str, ...]:
    """The answers that a list gives, normalised, empty ones left out.

    Parted by commas; where several lines begin with a bullet or number, by those lines.
    A final full stop or comma ends the list.
    """
    lines = [line for line in prediction.splitlines() if line.strip()]
    bulleted = [line for line in lines if _BULLET.match(line)]
    if len(bulleted) > 1:
        items = [_BULLET.sub("", line) for line in bulleted]
    else:
        items = prediction.rstrip().rstrip(".").rstrip(",").split(",")
    return tuple(found for item in items if item.strip() and (found := normalise(item)))


def list_precision(prediction: str, parts: Parts) -> float:
    """Share of the items given that are an alias of an answer; 0 where none is given."""
    _wanted(parts)
    known = {normalise(alias) for part in parts for alias in part}
    items = list_items(prediction)
    return share(item in known for item in items) if items else 0.0


def list_recall(prediction: str, parts: Parts) -> float:
    """Share of the answers that are among the items. Raises ValueError without parts."""
    return _matched(prediction, parts) / len(_wanted(parts))


def list_recall_5(prediction: str, parts: Parts) -> float:
    """`list_recall`, but five answers are enough: min(5, matched) / min(5, answers)."""
    return min(TOP, _matched(prediction, parts)) / min(TOP, len(_wanted(parts)))


def list_f1(prediction: str, parts: Parts) -> float:
    """F1 of precision and recall."""
    return harmonic(list_precision(prediction, parts), list_recall(prediction, parts))


def list_f1_5(prediction: str, parts: Parts) -> float:
    """F1 of precision and recall-5."""
    return harmonic(list_precision(prediction, parts), list_recall_5(prediction, parts))


def _present(prediction: str, parts: Parts) -> list[bool]:
    said = normalise(prediction)
    known = [[normalise(alias) for alias in part] for part in parts]
    return [any(alias and alias in said for alias in part) for part in known]


def _matched(prediction: str, parts: Parts) -> int:
    items = set(list_items(prediction))
    return sum(any(normalise(alias) in items for alias in part) for part in parts)


def _wanted(parts: Parts) -> Parts:
    if not parts:
        raise ValueError("no answers to compare with")
    return parts
