"""Is a name mentioned? By hand, with each rule on and off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.selection.mention import STRICT, MentionRules, Mentions, mentioned

SAME = [
    ("Al Capone", "the notorious Al Capone's gang"),
    ("al capone", "AL CAPONE"),
    ("Zoë", "ZOE"),
    ("Kraków", "Krako\u0301w"),
    ("Straße", "STRASSE"),
    ("ﬁlm", "film"),
    ("Москва", "Москва!"),
    ("北京", "在北京大学"),
]  # fmt: skip
BY_RULE = [
    ("inflection", "Rolling Stones", "a Rolling Stone"),
    ("initials", "Henry Feilden", "H. Feilden"),
    ("initials", "Henry Feilden", "Henry Master Feilden (21 February 1818)"),
    ("initials", "John Kennedy", "President John F. Kennedy spoke"),
    ("initials", "John F. Kennedy", "President John Kennedy spoke"),
    ("initials", "J. R. Tolkien", "John Ronald Tolkien"),
    ("initials", "J. K. Rowling", "Joanne Rowling"),
    ("acronyms", "World Health Organization", "the WHO said"),
    ("acronyms", "NATO", "the North Atlantic Treaty Organization"),
    ("parts", "The Torres Strait", "in Torres Strait"),
    ("parts", "Hell (band)", "Hell are"),
    ("parts", "Spider-Man", "Spiderman"),
    ("parts", "Spiderman", "the Spider-Man"),
]
OTHER = [
    ("Port", "Portland"),
    ("World Health Organization", "who said"),
    ("Henry Feilden", "Hugh Feilden"),
    ("Henry Feilden", "Henry the butler saw Feilden"),
    ("J. K. Rowling", "Mary Rowling"),
    ("Al Capone", "Capone Al"),
    ("1941", "in 1914"),
    ("", "anything"),
    ("()", "()"),
]


@pytest.mark.parametrize(("name", "text"), SAME)
def test_case_accents_and_possessives_never_matter(name: str, text: str) -> None:
    assert mentioned(name, text)
    assert mentioned(name, text, rules=STRICT)


@pytest.mark.parametrize(("rule", "name", "text"), BY_RULE)
def test_each_rule_is_a_parameter(rule: str, name: str, text: str) -> None:
    assert mentioned(name, text)
    off = {field: field != rule for field in ("inflection", "initials", "acronyms", "parts")}
    assert not mentioned(name, text, rules=MentionRules(**off))
    assert not mentioned(name, text, rules=STRICT)


@pytest.mark.parametrize(("name", "text"), OTHER)
def test_other_names_are_not_mentioned(name: str, text: str) -> None:
    assert not mentioned(name, text)


@given(st.text(max_size=40), st.text(max_size=80))
def test_any_text_can_be_asked(name: str, text: str) -> None:
    if name in Mentions(text, rules=STRICT):
        assert name in Mentions(text)


@given(st.lists(st.from_regex(r"[A-Z][a-z]{3,8}", fullmatch=True), min_size=1, max_size=4))
def test_what_is_there_is_found(parts: list[str]) -> None:
    name = " ".join(parts)
    assert mentioned(name, f"They met {name}, who left.")


def test_long_texts_take_linear_time() -> None:
    text = Mentions("A B. " * 30_000)
    assert "A. B. Zed" not in text
    assert "Aaaa Bbbb Cccc" not in text
