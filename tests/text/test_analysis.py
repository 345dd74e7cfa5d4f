import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.text.analysis import LONGEST, analyse, analyse_query


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("The valves are opened", "en", ["the", "valv", "are", "open"]),
        ("C++ and C#.", "en", ["c++", "and", "c#"]),
        ("ratio 3:1?", "en", ["ratio", "3", "1", "3:1"]),
        ("on 2024-01-31", "en", ["on", "2024", "01", "31", "2024-01-31"]),
        ("v1.2.3", "en", ["v1", "2", "3", "v1.2.3"]),
        ("1,000", "en", ["1", "000"]),
        ("my_file", "", ["my", "file", "my_file"]),
        ("readFileSync", "", ["read", "file", "sync", "readfilesync"]),
        ("e-mail", "en", ["e", "mail", "email"]),
        ("it's l'eau don’t", "", ["it", "eau", "don"]),
        (
            "https://example.org/a?b=c:d",
            "en",
            ["https", "exampl", "org", "a", "b", "c", "d", "c:d"],
        ),
        ("sys-\ntem", "en", ["system"]),
        ("Größe", "de", ["gross"]),
        ("Straße STRASSE", "", ["strasse", "strasse"]),
        ("café cafe", "", ["cafe", "cafe"]),
        ("ﬁle ２０２４", "", ["file", "2024"]),
        ("日本語", "ja", ["日", "本", "語", "日本", "本語"]),
        ("iPhone手机", "zh", ["i", "phone", "iphone", "手", "机", "手机"]),
        ("🐘 costs €5 $5", "en", ["🐘", "cost", "€", "5", "$", "5"]),
        ("soft\u00adware", "en", ["softwar"]),
        ("a" * 70, "", ["a" * 32, "a" * 32, "a" * 6]),
        ("हिन्दी भाषा", "", ["हिन्दी", "भाषा"]),
        ("ภาษาไทย", "th", ["ภ", "า", "ษ", "า", "ไ", "ท", "ย", "ภา", "าษ", "ษา", "าไ", "ไท", "ทย"]),
        ("... !!! --", "en", []),
        ("", "en", []),
    ],
)
def test_terms(text: str, language: str, terms: list[str]) -> None:
    assert analyse(text, language) == terms


@pytest.mark.parametrize("query", ["Prüfstück", unicodedata.normalize("NFD", "PRÜFSTÜCK")])
def test_composed_and_decomposed_meet(query: str) -> None:
    text = analyse(unicodedata.normalize("NFD", "Das Prüfstück hat die Größe neun."), "de")
    assert analyse_query(query, ["de"])[0][0] in text


@pytest.mark.parametrize(
    ("query", "languages", "variants"),
    [
        ("How is the valve opened?", ["en"], [["valv", "open"]]),
        ("to be or not to be", ["en"], [["to", "be", "or", "not"]]),
        ("running", ["en", "de", ""], [["running"], ["run"]]),
        ("日本語", ["ja"], [["日本", "本語"]]),
        ("水", ["zh"], [["水"]]),
        ("", ["en"], []),
        ("?!", ["en"], []),
        ("C++", [], [["c++"]]),
        ("what's it's", ["en"], [["what", "it"]]),
    ],
)
def test_queries(query: str, languages: list[str], variants: list[list[str]]) -> None:
    assert sorted(analyse_query(query, languages)) == sorted(variants)


@given(st.text(), st.sampled_from(["en", "de", "ja", "th", ""]))
def test_terms_are_short_and_without_blanks(text: str, language: str) -> None:
    for term in analyse(text, language):
        assert term
        assert not any(char.isspace() for char in term)
        assert len(term) <= 3 * LONGEST
        term.encode("utf-8")


@given(st.text(), st.sampled_from(["en", "de", "ja", "th", ""]))
def test_a_text_is_found_by_itself(text: str, language: str) -> None:
    terms = set(analyse(text, language))
    for variant in analyse_query(text, [language]):
        assert set(variant) <= terms
    assert bool(analyse_query(text, [language])) == bool(terms)
