import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.text.lines import LineIndex
from ragcli.text.normalise import readable, safe_for_terminal


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        (
            "The heating sys-\ntem has power-\n  ful pumps.",
            "The heating system has powerful pumps.",
        ),
        ("a two-\nbranch loop", "a two-branch loop"),
        ("state-of-\nthe-art", "state-of-the-art"),
        ("Nord-\nSüd", "Nord-Süd"),
        ("pages 10-\n20", "pages 10-20"),
        ("soft\u00adware and soft\u00ad\nware", "software and software"),
        ("a  \t b\n\nc", "a b c"),
        ("a - \nb", "a - b"),
        ("nul\0 bytes\x1b[31m", "nul bytes[31m"),
        ("zero\u200bwidth \ufeffbom", "zerowidth bom"),
        ("Pru\u0308fstu\u0308ck", "Prüfstück"),
        ("می\u200cروم", "می\u200cروم"),
        ("bad\ud800", "bad\ufffd"),
        ("", ""),
    ],
)
def test_readable(raw: str, clean: str) -> None:
    assert readable(raw) == clean


@given(st.text())
def test_readable_is_one_clean_line(text: str) -> None:
    clean = readable(text)
    assert "\n" not in clean
    assert "  " not in clean
    assert clean == clean.strip()
    clean.encode("utf-8")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("a\tb\nc\r\nd\re", "a\tb\nc\nd␍e"),
        ("\x9b31m", "\ufffd31m"),
        ("evil\u202etxt.exe", "eviltxt.exe"),
        ("a\u2028b", "a\nb"),
        ("\x7f", "␡"),
    ],
)
def test_safe_for_terminal(raw: str, shown: str) -> None:
    assert safe_for_terminal(raw) == shown


@given(st.text())
def test_terminal_text_has_no_controls_left(text: str) -> None:
    safe = safe_for_terminal(text)
    assert not [c for c in safe if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]
    assert safe_for_terminal(safe) == safe
    safe.encode("utf-8")


@given(st.text(alphabet="ab\n"))
def test_lines_count_like_an_editor(text: str) -> None:
    index = LineIndex(text)
    for offset in range(len(text)):
        assert index.line(offset) == text.count("\n", 0, offset) + 1
        assert index.start(index.line(offset)) <= offset
    assert len(index) == text.count("\n") + 1
