"""Evidence with a question's source there, and without."""

from __future__ import annotations

from dataclasses import replace

from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.tuning.evidence import judge, marked
from ragcli.methods.registry import settings_from


def test_each_question_is_judged_twice(small: Corpus) -> None:
    questions = marked(small, small.dataset.questions)
    assert len(questions) == 3
    found = {one.id: one for one in judge(small, questions, settings_from([]))}
    for one in found.values():
        assert one.there.score > one.gone.score
        assert not one.there.abstains(1.1)
        assert one.gone.abstains(1.1)
    assert found["valve"].gone.refused  # no passage mentions the 20 of the question
    assert not found["valve"].there.refused


def test_without_marks_there_is_nothing_to_take_away(small: Corpus) -> None:
    bare = tuple(
        replace(q, passages=tuple(replace(p, gold=()) for p in q.passages))
        for q in small.dataset.questions
    )
    assert marked(small, bare) == ()
    assert marked(replace(small, root=None), small.dataset.questions) == ()
