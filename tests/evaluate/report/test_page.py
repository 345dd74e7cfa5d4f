"""The page: whole, true to the numbers, and deaf to what the data would have it do."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest
from lxml import html as parser
from selectolax.lexbor import LexborHTMLParser

from ragcli.evaluate.report.build import build
from ragcli.evaluate.report.kept import read
from ragcli.evaluate.report.page import html
from ragcli.evaluate.store import Store
from ragcli.evaluate.summary import comparison, details, summarise, table

from .kept_run import ARMS, HOSTILE, QUESTIONS, answer, rows, write


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return html(build(read(write(tmp_path_factory.mktemp("run"))), high=4 / 3))


@pytest.fixture(scope="module")
def tree(text: str) -> LexborHTMLParser:
    return LexborHTMLParser(text)


def test_the_parser_agrees_with_what_was_written(text: str) -> None:
    """No tag is closed for us, none is dropped: as many elements as tags, and none nested oddly."""
    tree = LexborHTMLParser(text)
    body = re.sub(r"<(script|style)>.*?</\1>", "", text, flags=re.DOTALL)
    opened = re.findall(r"<([a-z][a-z0-9]*)[\s>/]", body)
    parsed = [node.tag for node in tree.root.traverse() if node.tag not in ("script", "style")]
    assert sorted(parsed) == sorted(opened)
    void = {"meta", "input", "line", "path", "rect", "circle", "br"}
    for name in set(opened) - void:
        assert opened.count(name) == len(re.findall(rf"</{name}>", body)), name
    assert text.startswith("<!DOCTYPE html>")


def test_hostile_texts_stay_texts(text: str, tree: LexborHTMLParser) -> None:
    scripts = tree.css("script")
    package = files("ragcli.evaluate.report") / "templates"
    assert [one.text() for one in scripts] == [(package / "report.js").read_text("utf-8")]
    assert [one.text() for one in tree.css("style")] == [
        (package / "report.css").read_text("utf-8")
    ]
    for node in tree.root.traverse():
        for name in node.attributes:
            assert not name.startswith("on"), (node.tag, name)
        assert node.tag not in {
            "img",
            "iframe",
            "object",
            "embed",
            "link",
            "form",
            "base",
            "b",
        } or (node.tag == "b" and not node.attributes)
    assert len(tree.css("title")) == 1 + len(tree.css("svg g title"))
    assert "{{ 7 * 7 }}" in text
    assert "49" not in tree.css_first("h1").text()
    shown = tree.css_first("h1").text()
    assert shown == f"Evaluation on {HOSTILE}"
    assert not re.search("[\0\x1b\u202e\ud800-\udfff]", text)
    text.encode("utf-8")


def test_nothing_is_asked_of_the_network(text: str, tree: LexborHTMLParser) -> None:
    ids = {node.attributes["id"] for node in tree.css("[id]")}
    assert len(ids) == len(tree.css("[id]")), "an id is there twice"
    links = [node.attributes.get("href") for node in tree.css("[href]")]
    assert links
    assert all(link and link[0] == "#" and link[1:] in ids for link in links)
    asking = {"src", "srcset", "action", "data", "xlink:href", "style", "poster", "ping"}
    assert not asking & {name for node in tree.root.traverse() for name in node.attributes}
    style = tree.css_first("style").text()
    assert "url(" not in style
    assert "@import" not in style
    policy = tree.css_first("meta[http-equiv]").attributes["content"] or ""
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_every_question_and_arm_is_there(tree: LexborHTMLParser) -> None:
    questions = tree.css("details.question")
    assert len(questions) == len(QUESTIONS)
    for question in questions:
        assert [node.text() for node in question.css("article.arm > h3")] == list(ARMS)
        assert [node.text() for node in question.css("ul.gold li")] == [
            f"Mira Oskan / {HOSTILE}", "first / 1st", HOSTILE, "She kept bees.", HOSTILE,
        ]  # fmt: skip
    assert len(tree.css("figure")) == 6


def test_numbers_are_those_of_the_summary(tree: LexborHTMLParser) -> None:
    order = [row for arm in ARMS for row in rows() if row["arm"] == arm]
    summaries = summarise(order, ARMS)
    expected = [table(summaries), comparison(summaries), details(summaries)]
    shown = []
    for one in tree.css("#comparison ~ .wide table"):
        head = [cell.text() for cell in one.css("thead th")]
        lines = [
            [row.css_first("th").text(), *(_cell(cell) for cell in row.css("td"))]
            for row in one.css("tbody tr")
        ]
        shown.append([["", *head[1:]], *lines])
    assert shown == expected
    assert any("*" in cell for line in expected[1] for cell in line) == bool(tree.css("td.marked"))


def _cell(node: object) -> str:
    value, interval = node.text(deep=False), node.css_first("small")  # type: ignore[attr-defined]
    if interval is None:
        return str(value)
    star = "*" if value.endswith("*") else ""
    return f"{value.rstrip('*')} {interval.text()}{star}"


def test_tokens_are_marked_and_say_what_they_replaced(tree: LexborHTMLParser) -> None:
    answer = tree.css_first("#q1-a1 .answer")
    assert [node.text() for node in answer.css(".l1")] == ["Mira"]
    assert [node.text() for node in answer.css("span.l2")] == ["Oskan"]
    replaced = answer.css_first("ruby.l2")
    assert replaced.css_first("rt").text() == HOSTILE
    assert replaced.text(deep=False) == "<i>"
    assert answer.text().startswith(f"Mira Oskan & <i>{HOSTILE}Jon</i>[1]")
    whole = tree.css("#q1-a1 .answer")[1]
    assert "and more" in whole.text()


def test_citations_lead_to_their_sentence(tree: LexborHTMLParser) -> None:
    link = tree.css_first("#q2-a3 a.cite")
    source = tree.css_first((link.attributes["href"] or "").replace("#", "[id=") + "]")
    assert source.css_first("blockquote").text() == "“Mira Oskan kept the light.”"
    assert "a.html, line 7" in source.text()
    assert [one.text() for one in source.css("a")] == [f"{arm} [1]" for arm in ARMS]
    needed = [one.css_first("blockquote").text() for one in tree.css("#q2 li.needed")]
    assert needed == ["“Mira Oskan kept the light.”", "“She kept bees.”"]
    assert "1 of the needed places were not found" in tree.css_first("#q2").text()


def test_tables_have_heads_and_fields_have_names(text: str) -> None:
    tree = parser.fromstring(text)
    for one in tree.iter("table"):
        assert all(head.get("scope") in ("col", "row") for head in one.iter("th"))
        for line in one.find("tbody"):
            assert line[0].tag == "th"
            assert len(line) == len(one.find("thead")[0])
    for one in tree.iter("svg"):
        assert one.get("role") == "img"
        assert one.get("aria-label")
    assert [one.getparent().tag for one in tree.iter("input")] == ["label"]
    assert tree.get("lang") == "en"


def test_without_its_record_and_answers_rows_are_enough(tmp_path: Path) -> None:
    page = html(build(read(write(tmp_path, told=False, answers=False)), high=4 / 3))
    tree = LexborHTMLParser(page)
    assert len(tree.css("details.question article.arm")) == len(QUESTIONS) * len(ARMS)
    notes = [node.text() for node in tree.css("header .note")]
    assert len(notes) == 2
    assert "does not say what was run" in notes[0]
    assert "were not kept" in notes[1]
    assert tree.css_first("#q1-a1 .answer").text() == "Mira Oskan & <i>Jon</i>"


def _luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out(scheme: int) -> None:
    style = (files("ragcli.evaluate.report") / "templates" / "report.css").read_text("utf-8")
    block = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[scheme]
    colors = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
    pairs = [(front, back) for front in ("text", "soft", "link", "bad", "good")
             for back in ("ground", "panel")]  # fmt: skip
    pairs += [("text", "risk"), ("text", "high"), ("risk-line", "risk"), ("high-line", "high")]
    for front, back in pairs:
        bright, dark = sorted((_luminance(colors[front]), _luminance(colors[back])), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5, (front, back)


def test_names_of_arms_are_texts_too(tmp_path: Path) -> None:
    name = "plain\x1b]0;owned\x07\u202e"
    with Store(tmp_path) as store:
        store.add({**rows()[0], "arm": name}, answer("Who?"))
    page = html(build(read(tmp_path), high=4 / 3))
    assert "owned" in page
    assert not re.search("[\x07\x1b\u202e]", page)
