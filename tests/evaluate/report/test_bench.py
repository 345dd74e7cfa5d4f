"""A real run, answered by a scripted generator: its page has its numbers and its questions."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from ragcli.evaluate.arms import parse_arms
from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.plan import Plan
from ragcli.evaluate.report.build import build
from ragcli.evaluate.report.kept import read
from ragcli.evaluate.report.page import html
from ragcli.evaluate.runner import Bench
from ragcli.evaluate.store import Store
from ragcli.evaluate.summary import summarise
from ragcli.render.json import answer_document
from tests.methods.fakes import FakeGenerator


def test_a_page_of_a_run(small: Corpus, tmp_path: Path) -> None:
    plan = Plan(small.dataset.questions, parse_arms("plain,closed-book,verbatim"))
    with Store(tmp_path) as store:
        generator = FakeGenerator("Mira Oskan")
        with closing(Bench(small, generator, store, describe=answer_document)) as bench:
            done = [one for one in bench.run(plan) if one.row is not None]
    kept = read(tmp_path)
    rows = [{**(one.row or {}), "arm": one.arm.name} for one in done]
    arms = [arm.name for arm in plan.arms]
    assert summarise(kept.all_rows, kept.arms) == summarise(rows, arms)
    assert list(kept.questions) == [question.id for question in plan.questions]

    tree = LexborHTMLParser(html(build(kept, high=4 / 3)))
    questions = tree.css("details.question")
    assert len(questions) == len(plan.questions)
    for shown, question in zip(questions, plan.questions, strict=True):
        assert question.text in shown.css_first("summary").text()
        assert [one.text() for one in shown.css("ul.gold li")] == [" / ".join(question.answers)]
        assert [one.text() for one in shown.css("article > h3")] == arms
        assert shown.css("li.needed")
    keeper = next(one for one in questions if "keeper" in one.css_first("summary").text())
    link = keeper.css_first("article:nth-of-type(3) a.cite").attributes["href"] or ""
    assert "Mira Oskan was the first keeper" in tree.css_first(f'[id="{link[1:]}"]').text()
    facts = tree.css_first("header dl").text()
    assert small.dataset.name in facts
    assert "sampling.max_tokens=48" in facts
