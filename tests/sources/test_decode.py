import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.sources.decode import clean, declared_in_xml, decode

GERMAN = "Das Prüfstück hat die Größe neun und ist für den Kessel. "
QUOTES = "It’s the “final” valve – the one that is in the cellar of the house, and it was shut. "


@pytest.mark.parametrize(
    ("data", "declared", "text", "note"),
    [
        (b"plain", None, "plain", ""),
        (codecs.BOM_UTF8 + "Größe".encode(), None, "Größe", ""),
        (codecs.BOM_UTF16_LE + "Größe".encode("utf-16-le"), None, "Größe", ""),
        (codecs.BOM_UTF16_BE + "Größe".encode("utf-16-be"), None, "Größe", ""),
        (codecs.BOM_UTF32_LE + "Größe".encode("utf-32-le"), None, "Größe", ""),
        ("plain text".encode("utf-16-le"), None, "plain text", "encoding guessed: utf-16-le"),
        ("Größe".encode(), "iso-8859-1", "Größe", ""),
        (GERMAN.encode("latin-1"), "iso-8859-1", GERMAN, ""),
        (QUOTES.encode("cp1252"), "iso-8859-1", QUOTES, ""),
        (GERMAN.encode("cp1252"), None, GERMAN, "encoding guessed: cp1252"),
        (QUOTES.encode("cp1252"), None, QUOTES, "encoding guessed: cp1252"),
        (GERMAN.encode("cp1252"), "utf-8", GERMAN, "encoding guessed: cp1252"),
        (GERMAN.encode("cp1252"), "no-such-code", GERMAN, "encoding guessed: cp1252"),
        (GERMAN.encode("cp1252"), "hex", GERMAN, "encoding guessed: cp1252"),
        (GERMAN.encode() + b"\xff", None, GERMAN + "\ufffd", "1 damaged characters replaced"),
        (
            "plain text in four bytes".encode("utf-32-le"),
            None,
            "plain text in four bytes",
            "encoding guessed: utf-32-le",
        ),
        (
            "Größe des Kessels".encode("utf-32-be"),
            None,
            "Größe des Kessels",
            "encoding guessed: utf-32-be",
        ),
        ("ポンプ pump".encode("iso-2022-jp"), None, "ポンプ pump", "encoding guessed: iso-2022-jp"),
        ("ポンプ pump".encode("iso-2022-jp"), "ISO-2022-JP", "ポンプ pump", ""),
        ("Größe".encode("utf-7"), "utf-7", "Größe", ""),
        (b"plain", "utf-7", "plain", ""),
        (b"a\r\nb\rc\0d\x1b[31m\xc2\x85", None, "a\nb\nc d [31m ", ""),
        (b"", None, "", ""),
    ],
)
def test_decode(data: bytes, declared: str | None, text: str, note: str) -> None:
    found = decode(data, declared)
    assert (found.text, found.note) == (text, note)


@given(st.binary(max_size=300), st.sampled_from([None, "utf-8", "latin-1", "shift_jis", "rot13"]))
def test_decode_never_fails(data: bytes, declared: str | None) -> None:
    text = decode(data, declared).text
    text.encode("utf-8")
    assert not [c for c in text if (ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160]


WRITTEN = st.characters(codec="utf-8", exclude_characters="\ufeff", exclude_categories=["Cc"])


@given(st.text(alphabet=WRITTEN | st.sampled_from("\t\n\r\f\x80\x1b"), max_size=300))
def test_utf8_comes_through(text: str) -> None:
    assert decode(text.encode()).text == clean(text)


def test_xml_declaration() -> None:
    assert declared_in_xml(b'<?xml version="1.0" encoding="KOI8-R"?><a/>') == "KOI8-R"
    assert declared_in_xml(b"<a encoding='x'/>") is None


RUSSIAN = "Маяк был построен в 1887 году. Первый смотритель жил на острове с женой."
JAPANESE = "本社は東京都にあります。営業時間は午前九時から午後五時までです。カタカナも含む。"
CHINESE = "姓名,城市,数量\n张三,北京,5\n李四,上海,6\n"
POLISH = "Latarnia została zbudowana w 1887 roku. Pierwszy strażnik mieszkał na wyspie z żoną."
CZECH = "Maják byl postaven v roce 1887. První strážce žil na ostrově se svou ženou."
GREEK = "Ο φάρος χτίστηκε το 1887. Ο πρώτος φύλακας ζούσε στο νησί."
HEBREW = "המגדלור נבנה בשנת 1887. השומר הראשון גר באי עם אשתו."
KOREAN = "서울의 가을은 아름답습니다. 박물관은 매일 아침 아홉 시에 문을 엽니다."
THAI = "ประภาคารสร้างขึ้นในปี 1887 ผู้ดูแลคนแรกอาศัยอยู่บนเกาะ"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((RUSSIAN, name) for name in ("koi8_r", "cp1251", "cp866", "iso8859_5")),
        *((RUSSIAN[:14], name) for name in ("koi8_r", "cp1251", "cp866", "iso8859_5")),
        *((JAPANESE, name) for name in ("euc_jp", "cp932", "utf-16-le", "utf-16-be")),
        (JAPANESE[:14], "euc_jp"),
        *((CHINESE, name) for name in ("gb18030", "utf-16-le", "utf-16-be")),
        *((POLISH, name) for name in ("cp1250", "iso8859_2")),
        (CZECH, "cp1250"),
        (GREEK, "cp1253"),
        (HEBREW, "cp1255"),
        (KOREAN, "cp949"),
        (THAI, "cp874"),
        *((RUSSIAN, name) for name in ("utf-16-le", "utf-16-be")),
        (GERMAN, "mac_roman"),
        ("Die Größe", "utf-16-be"),
    ],
)
def test_short_texts_in_old_encodings(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding))
    assert found.text == text
    assert found.note.startswith("encoding guessed: ")


@pytest.mark.parametrize(
    ("start", "encoding"),
    [
        ("# -*- coding: koi8-r -*-", "koi8-r"),
        ("#!/bin/x\n# vim: set fileencoding=cp1251 :", "cp1251"),
        ("\\documentclass{article}\n\\usepackage[applemac]{inputenc}", "mac-roman"),
        ("% x\n\\usepackage[latin2]{inputenc}", "latin2"),
    ],
)
def test_what_a_text_says_of_itself_is_believed(start: str, encoding: str) -> None:
    text = f"{start}\n{'ÄÖ' if encoding in ('mac-roman', 'latin2') else 'Лес'}"
    assert decode(text.encode(encoding)).text == text


def test_what_a_text_says_of_itself_is_not_believed_of_utf8_nor_from_below() -> None:
    assert decode("# coding: latin-1\nGröße".encode()).text.endswith("Größe")
    assert decode(f"1\n2\n# coding: koi8-r\n{GERMAN}".encode("cp1252")).text.endswith(GERMAN)
    assert decode(f"# coding: nothing-like-it\n{GERMAN}".encode("cp1252")).text.endswith(GERMAN)


def test_lines_in_another_encoding_between_utf8() -> None:
    lines = ["Größe neun", "Maß für das Prüfstück", "Kühlung läuft"]
    data = b"\n".join([lines[0].encode(), lines[1].encode("cp1252"), lines[2].encode()])
    found = decode(data)
    assert found.text.split("\n") == lines
    assert found.note == "1 lines are no UTF-8: read as cp1252"
    damaged = decode(data.replace("ü".encode(), b"\xff"))
    assert "\xff" not in damaged.text


@pytest.mark.parametrize(
    ("name", "encoding", "words"),
    [
        ("EUC-JP__siesta.co.jp.aozora.xml", "euc-jp", "南洋一郎訳"),
        ("GB2312__cnblog.org.xml", "gb18030", "条目"),
        ("KOI8-R__aviaport.ru.xml", "koi8-r", "судебные разбирательства"),
        ("TIS-620__pharmacy.kku.ac.th.healthinfo-ne.xml", "cp874", "ให้ทนไปถึงไหน"),
        ("UTF-16__bom-utf-16-le.srt", "utf-16-le", "About 2 months ago"),
        ("utf-8-sig__bom-utf-8.srt", "utf-8", "About 2 months ago"),
        ("windows-1252___ude_2.txt", "cp1252", "handelwijze hem berouwde"),
    ],
)
def test_real_files(shared_files: Path, name: str, encoding: str, words: str) -> None:
    data = (shared_files / "fixtures" / "encoding" / name).read_bytes()
    found = decode(data, declared_in_xml(data))
    assert found.encoding == encoding
    assert words in found.text
    assert "\ufffd" not in found.text
