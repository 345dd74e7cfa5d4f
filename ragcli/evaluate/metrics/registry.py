"""Every metric by name: what it says, where it comes from, and what it needs to be known.

`score` gives a question's row, `summarise` the means of many. A metric is applied where all it
needs is known, so a row has a number or lacks the name; one that fails raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragcli.errors import RagcliError
from ragcli.evaluate.metrics import claims, labels, several, short
from ragcli.evaluate.metrics import knowledge as known
from ragcli.evaluate.metrics.averages import harmonic
from ragcli.evaluate.metrics.citation import Cited, Entails, citation_scores
from ragcli.evaluate.metrics.knowledge import Piece
from ragcli.evaluate.metrics.overlap import bleu_1, rouge_l
from ragcli.evaluate.types import Question

Better = Literal["higher", "lower", ""]
Need = Literal[
    "answers", "parts", "claims", "references", "list", "gold", "knowledge", "sentences", "places",
    "judge",
]  # fmt: skip


class MetricError(RagcliError):
    """A metric failed, or gave what is no number; there is no row then."""

    code = "metric"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question, as the metrics see it.

    text: the answer, "" after abstaining. sentences: the answer's, with what they cite. selected,
    cited, gold: places that the generator was shown, that are cited, that are needed (sentences,
    or passages where the data knows no more; gold empty: not known). knowledge: what was shown,
    as text, None where that is not recorded. Tokens are the generator's.
    """

    text: str
    abstained: bool = False
    sentences: tuple[Cited, ...] = ()
    selected: tuple[Piece, ...] = ()
    cited: tuple[Piece, ...] = ()
    gold: tuple[Piece, ...] = ()
    knowledge: str | None = None
    knowledge_tokens: int = 0
    prompt_tokens: int = 0
    generated_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Case:
    """One answer to be scored. entails None: no verifier, metrics that need one are left out."""

    outcome: Outcome
    question: Question
    entails: Entails | None = None

    def has(self, need: Need) -> bool:
        """Whether that is known here."""
        question, outcome = self.question, self.outcome
        return {
            "answers": bool(question.answers),
            "parts": bool(question.parts),
            "claims": bool(question.claims),
            "references": bool(self.references),
            "list": bool(question.parts) and not question.reference,
            "gold": bool(outcome.gold),
            "knowledge": outcome.knowledge is not None,
            "sentences": bool(outcome.sentences),
            "places": bool(outcome.gold and outcome.sentences),
            "judge": self.entails is not None,
        }[need]

    @property
    def references(self) -> tuple[str, ...]:
        """The long answer, else the aliases of the short one."""
        return (self.question.reference,) if self.question.reference else self.question.answers

    @property
    def judge(self) -> Entails:
        if self.entails is None:
            raise ValueError("no verifier")
        return self.entails


@dataclass(frozen=True, slots=True)
class Metric:
    """needs: applied only where `Case.has` each. better "": neither more nor less is better."""

    name: str
    doc: str
    source: str
    needs: tuple[Need, ...]
    compute: Callable[[Case], float]
    better: Better = "higher"


@dataclass(frozen=True, slots=True)
class Derived:
    """A number made of the means of others. combine takes numbers and arrays alike."""

    name: str
    doc: str
    source: str
    of: tuple[str, ...]
    combine: Callable[..., Any]
    better: Better = "higher"


_SQUAD = "Rajpurkar et al. 2016 (SQuAD)"
_ALCE = "Gao et al. 2023 (ALCE)"
_HERE = "ragcli"


def _answers(function: Callable[[str, Sequence[str]], float]) -> Callable[[Case], float]:
    return lambda case: function(case.outcome.text, case.question.answers)


def _references(function: Callable[[str, Sequence[str]], float]) -> Callable[[Case], float]:
    return lambda case: function(case.outcome.text, case.references)


def _parts(function: Callable[[str, several.Parts], float]) -> Callable[[Case], float]:
    return lambda case: function(case.outcome.text, case.question.parts)


def _selected(function: Callable[[Sequence[Piece], Sequence[Piece]], float]) -> Any:
    return lambda case: function(case.outcome.selected, case.outcome.gold)


def _cited(function: Callable[[Sequence[Piece], Sequence[Piece]], float]) -> Any:
    return lambda case: function(case.outcome.cited, case.outcome.gold)


def _citations(field: Literal["recall", "precision"]) -> Callable[[Case], float]:
    return lambda case: getattr(citation_scores(case.outcome.sentences, case.judge), field)


_LIST = (
    Metric("em", "the short answer, exactly", _SQUAD, ("answers",), _answers(short.exact_match)),
    Metric("f1", "token F1 of the short answer", _SQUAD, ("answers",), _answers(short.token_f1)),
    Metric("contains", "the short answer is in the text; favours long texts", _HERE, ("answers",),
           _answers(short.contains)),
    Metric("answer_words", "words of the answer", _HERE, (),
           lambda case: short.answer_length(case.outcome.text), ""),
    Metric("str_em", "share of several short answers in the text (EM-R)", _ALCE, ("parts",),
           _parts(several.str_em)),
    Metric("str_hit", "all of several short answers are in the text", _ALCE, ("parts",),
           _parts(several.str_hit)),
    Metric("list_precision", "share of the listed items that are answers", _ALCE, ("list",),
           _parts(several.list_precision)),
    Metric("list_recall", "share of the answers that are listed", _ALCE, ("list",),
           _parts(several.list_recall)),
    Metric("list_recall_5", "recall where five answers are enough", _ALCE, ("list",),
           _parts(several.list_recall_5)),
    Metric("list_f1", "F1 of list precision and recall", _ALCE, ("list",),
           _parts(several.list_f1)),
    Metric("list_f1_5", "F1 of list precision and recall-5", _ALCE, ("list",),
           _parts(several.list_f1_5)),
    Metric("rouge_l", "longest common subsequence, F-measure", "Lin 2004", ("references",),
           _references(rouge_l)),
    Metric("bleu_1", "unigram precision with brevity penalty", "Papineni et al. 2002",
           ("references",), _references(bleu_1)),
    Metric("claim_recall", "share of the claims that the answer entails", _ALCE,
           ("claims", "judge"),
           lambda case: claims.claim_recall(case.outcome.text, case.question.claims, case.judge)),
    Metric("knowledge_precision", "share of the selected pieces that are gold; 0 for none",
           "paper 003, section 3", ("gold",), _selected(known.knowledge_precision)),
    Metric("knowledge_recall", "share of the gold pieces that are selected",
           "paper 003, section 3", ("gold",), _selected(known.knowledge_recall)),
    Metric("knowledge_f1", "F1 of knowledge precision and recall", "paper 003, section 3",
           ("gold",), _selected(known.knowledge_f1)),
    Metric("knowledge_tokens", "tokens of the selected knowledge", "paper 000, Table 2", (),
           lambda case: case.outcome.knowledge_tokens, "lower"),
    Metric("knowledge_answer", "the answer stands in the selected knowledge",
           "paper 000, Table 2", ("answers", "knowledge"),
           lambda case: short.contains(case.outcome.knowledge or "", case.question.answers)),
    Metric("citation_recall", "share of sentences that their citations entail", _ALCE,
           ("sentences", "judge"), _citations("recall")),
    Metric("citation_precision", "share of citations that are needed", _ALCE,
           ("sentences", "judge"), _citations("precision")),
    Metric("label_precision", "share of the cited places that are gold", _HERE, ("places",),
           _cited(labels.label_precision)),
    Metric("label_recall", "share of the gold places that are cited", _HERE, ("places",),
           _cited(labels.label_recall)),
    Metric("label_f1", "F1 of label precision and recall", _HERE, ("places",),
           _cited(labels.label_f1)),
    Metric("abstention", "no answer was given", _HERE, (),
           lambda case: float(case.outcome.abstained), ""),
    Metric("seconds", "wall time of the question", _HERE, (),
           lambda case: case.outcome.seconds, "lower"),
    Metric("prompt_tokens", "tokens that were read", _HERE, (),
           lambda case: case.outcome.prompt_tokens, "lower"),
    Metric("generated_tokens", "tokens that were written", _HERE, (),
           lambda case: case.outcome.generated_tokens, ""),
)  # fmt: skip

METRICS: dict[str, Metric] = {metric.name: metric for metric in _LIST}


def f1_of_means(precision: Any, recall: Any) -> Any:
    """Harmonic mean; numbers or arrays of them, 0 where both are 0."""
    import numpy as np

    if np.ndim(precision) == 0:
        return harmonic(float(precision), float(recall))
    total = np.asarray(precision) + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


DERIVED: dict[str, Derived] = {
    "citation_f1": Derived(
        "citation_f1", "F1 of the means of citation precision and recall", _ALCE,
        ("citation_precision", "citation_recall"), f1_of_means,
    ),
}  # fmt: skip


def score(case: Case, names: Iterable[str] = tuple(METRICS)) -> dict[str, float]:
    """The named metrics of one answer, those left out whose needs are not met.

    Raises MetricError where one fails or is not a finite number; KeyError for an unknown name.
    """
    chosen = [METRICS[name] for name in names]
    return {
        metric.name: _value(metric, case)
        for metric in chosen
        if all(case.has(need) for need in metric.needs)
    }


def summarise(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Mean of each metric over the rows that have it, and `DERIVED` of the means.

    A derived number is of rows that have all its parts.
    """
    names = [name for name in METRICS if any(name in row for row in rows)]
    means = {name: _mean([row[name] for row in rows if name in row]) for name in names}
    for derived in DERIVED.values():
        whole = [row for row in rows if all(name in row for name in derived.of)]
        if whole:
            parts = (_mean([row[name] for row in whole]) for name in derived.of)
            means[derived.name] = float(derived.combine(*parts))
    return means


def _value(metric: Metric, case: Case) -> float:
    try:
        value = float(metric.compute(case))
    except RagcliError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise MetricError(
            f"the metric {metric.name} failed on question {case.question.id} ({reason})"
        ) from error
    if not math.isfinite(value):
        raise MetricError(f"the metric {metric.name} gave {value} on question {case.question.id}")
    return value


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
