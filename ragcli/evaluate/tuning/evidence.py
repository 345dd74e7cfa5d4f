"""Evidence on questions with their source there, and with it taken away; nothing is generated.

The check is the one that every method makes before it answers, over the passages that the plain
method would show. What is taken away are the documents that hold the marked passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragcli.cite.evidence import Limits, view, weigh
from ragcli.cite.question import parse_question
from ragcli.cite.related import with_related
from ragcli.decoding.settings import Settings
from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.tuning.abstention import Judged, Weighed
from ragcli.evaluate.types import Question
from ragcli.text.language import detect
from ragcli.types import Hit


def marked(corpus: Corpus, questions: Sequence[Question]) -> tuple[Question, ...]:
    """The questions whose source is known."""
    if corpus.root is None:
        return ()
    return tuple(one for one in questions if corpus.gold_documents(one))


def judge(corpus: Corpus, questions: Sequence[Question], settings: Settings) -> Iterator[Judged]:
    """Each question twice. questions: marked ones."""
    shown = int(settings.extra["retrieval.k"])
    wanted = max(shown, int(settings.extra["retrieval.candidates"]))
    for question in questions:
        gold = {document.id for document in corpus.gold_documents(question)}
        more = sum(len(corpus.reader.passages(id)) for id in gold)
        hits = corpus.reader.search(question.text, k=wanted + more, where=corpus.where(question))
        left = [hit for hit in hits if hit.document.id not in gold]
        yield Judged(
            question.id,
            _weighed(corpus, question, hits[:shown]),
            _weighed(corpus, question, left[:shown]),
        )


def _weighed(corpus: Corpus, question: Question, hits: Sequence[Hit]) -> Weighed:
    """The score, and whether rules that look at no threshold object."""
    language = detect(question.text) or next((h.document.language for h in hits), "") or "en"
    passages = [view(hit) for hit in hits]
    asked = parse_question(question.text, language)
    asked = with_related(asked, passages, corpus.reader.encode, language)
    found = weigh(asked, passages, language, replace(Limits(), enough=0.0))
    return Weighed(found.score, not found.enough)
