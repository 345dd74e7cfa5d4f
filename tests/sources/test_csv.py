import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.sources import csv
from ragcli.sources.csv import find_delimiter, load_csv
from ragcli.sources.load import load
from ragcli.sources.table_header import find_header, is_value
from ragcli.sources.tables import table_pieces
from ragcli.text.sentences import split_sentences
from ragcli.types import Extracted

from .zips import check, shown


def read(text: str, ending: str = ".csv") -> Extracted:
    extracted = load_csv(text.encode(), ending)
    check(extracted)
    return extracted


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("id,name,score\n4711,Meyer,3\n4712,Li,5\n", ["id; name; score", "id: 4711; name: Meyer; score: 3", "id: 4712; name: Li; score: 5"]),
        ("\ufeffName;Betrag\nMeyer;1.234,56\nLi;3,00\n", ["Name; Betrag", "Name: Meyer; Betrag: 1.234,56", "Name: Li; Betrag: 3,00"]),
        ("a\tb\n1\t2\n", ["a; b", "a: 1; b: 2"]),
        ("a|b|c\n1|2|3\n", ["a; b; c", "a: 1; b: 2; c: 3"]),
        ("sep=;\na;b\n1;2\n", ["", "a; b", "a: 1; b: 2"]),
        ("4711,Meyer,3\n4712,Li,5\n", ["4711; Meyer; 3", "4712; Li; 5"]),
        ('id,note\n1,"two\nlines, here"\n2,x\n', ["id; note", "id: 1; note: two lines, here", "", "id: 2; note: x"]),
        ("a,b\n1,2,3,4\n1\n", ["a; b", "a: 1; b: 2; 3; 4", "a: 1"]),
        ("a,b\r\n1,2\r\n", ["a; b", "a: 1; b: 2"]),
        ("a,b\n1,2\0\n3,4\n", ["a; b", "a: 1; b: 2", "a: 3; b: 4"]),
        ("Sales\n\nitem,2022,2023\npen,1,2\nink,3,4\n", ["Sales", "", "item; 2022; 2023", "item: pen; 2022: 1; 2023: 2", "item: ink; 2022: 3; 2023: 4"]),
        ("name,city\nAnna,Rome\nBob,Paris\n", ["name; city", "name: Anna; city: Rome", "name: Bob; city: Paris"]),
        ('id,said\n1,"He said ""no"", twice"\n', ["id; said", 'id: 1; said: He said "no", twice']),
        ("x;y\n\n\n1;\n;2\n", ["x; y", "", "", "x: 1", "y: 2"]),
    ],
)  # fmt: skip
def test_each_record_is_a_line_with_its_header_on_its_own_line(text: str, lines: list[str]) -> None:
    extracted = read(text)
    assert extracted.kind == "csv"
    assert extracted.text.split("\n") == lines


@pytest.mark.parametrize(
    "text",
    [
        "Dear all, this is prose.\nIt has commas, some, and goes on, you know.\nBest, Bob.\n",
        "One line, no table at all.\n",
        "She came, he went, they slept.\nHe ran, she sat, it rained all day.\nWe saw, you did, I slept.\n",
    ],
)
def test_prose_that_is_called_csv_is_text(text: str) -> None:
    extracted = read(text)
    assert (extracted.kind, extracted.text) == ("text", text)
    assert [kind for kind, _ in shown(extracted)] == ["paragraph"]


def test_a_list_without_delimiters_is_a_row_a_line() -> None:
    text = "email\na@example.org\nb@example.org\n"
    extracted = read(text)
    sentences = split_sentences(extracted.text, extracted.blocks)
    assert [s.of(extracted.text) for s in sentences] == text.split()


def test_a_quote_that_is_never_closed_costs_no_rows() -> None:
    rows = [f"{n},value {n}" for n in range(2000)]
    rows[3] = '3,"open'
    extracted = read("id,what\n" + "\n".join(rows))
    assert 'id: 3; what: "open' in extracted.text
    assert "id: 1999; what: value 1999" in extracted.text


def test_a_row_is_one_sentence_whatever_stands_in_it() -> None:
    extracted = read("id,note\n1,Dr. Li came. She left! Why?\n2,No. 5 etc. and so on.\n")
    sentences = [s.of(extracted.text) for s in split_sentences(extracted.text, extracted.blocks)]
    assert sentences[1:] == ["id: 1; note: Dr. Li came. She left! Why?", "id: 2; note: No. 5 etc. and so on."]  # fmt: skip


def test_wide_rows_are_pieces_that_name_their_row() -> None:
    header = "id," + ",".join(f"measurement {n}" for n in range(40))
    rows = "\n".join(f"K{row}," + ",".join(str(1000 + n) for n in range(40)) for row in range(3))
    extracted = read(f"{header}\n{rows}\n")
    line = extracted.text.split("\n")[2]
    sentences = [
        s.of(extracted.text)
        for s in split_sentences(extracted.text, extracted.blocks)
        if "K1" in s.of(extracted.text)
    ]
    assert "  ".join(sentences) == line
    assert len(sentences) > 1
    assert all(one.startswith("id: K1; measurement") and len(one) < 600 for one in sentences)
    assert sum(one.count("measurement") for one in sentences) == 40


def test_long_prose_in_a_cell_is_a_paragraph_of_its_own() -> None:
    review = "The boat is fine. " * 30
    extracted = read(f"id,stars,review\n1,5,{review}\n2,3,bad\n")
    assert ("paragraph", f"review: {review.strip()}") in shown(extracted)
    assert "id: 1; stars: 5" in extracted.text


def test_what_is_too_much_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "MOST_ROWS", 100)
    extracted = read("id,v\n" + "\n".join(f"{n},x" for n in range(1, 1000)))
    assert extracted.missing == ("lines 101-1,000 (too many rows)",)
    assert "id: 99; v: x" in extracted.text
    assert "id: 100;" not in extracted.text


def test_many_rows_take_seconds_and_one_endless_line_none() -> None:
    started = time.process_time()
    extracted = read("id,name,comment\n" + "".join(f"{n},n{n},c\n" for n in range(20_000)))
    assert extracted.text.count("\n") == 20_000
    assert time.process_time() - started < 20
    assert read("a,b\n" + "1," * 5_000_000).kind == "text"


@pytest.mark.parametrize(
    ("text", "ending", "delimiter"),
    [
        ("a,b;c\n1,2;3\n4,5;6\n", ".csv", ","),
        ("1,5;2,5\n3,5;4,5\n1,0;2\n", ".csv", ";"),
        ("plain words\n", ".csv", ""),
        ("one\ttwo words, and more\n", ".tsv", "\t"),
        ("", ".csv", ""),
    ],
)
def test_the_delimiter_is_found(text: str, ending: str, delimiter: str) -> None:
    assert find_delimiter(text, ending) == delimiter


@pytest.mark.parametrize(
    "text",
    ["3", "-3.5", "1.234,56 €", "$5", "12 %", "2024-03-05", "5.3.2024", "10:30", "3 bar", "(1,000)", "yes", "N/A", "a@b.de", "https://x.y", "1e-5", "USD 5"],
)  # fmt: skip
def test_values_are_no_labels(text: str) -> None:
    assert is_value(text)


@pytest.mark.parametrize("text", ["Name", "Q1", "Total 2023 and more", "x1y", "street no. 5"])
def test_labels_are_no_values(text: str) -> None:
    assert not is_value(text)


def rows(*lines: str) -> list[tuple[int, dict[int, str]]]:
    return [
        (number, {c: text for c, text in enumerate(line.split(",")) if text})
        for number, line in enumerate(lines, 1)
        if line.strip(",")
    ]


@pytest.mark.parametrize(
    ("lines", "above", "count", "labels"),
    [
        (("Report", "by Anna,1", "x,y,z", "1,2,3", "4,5,6"), 2, 1, {0: "x", 1: "y", 2: "z"}),
        (("Region,2023,,2024", ",Q1,Q2,Q1", "N,1,2,3", "S,1,2,3"), 0, 2, {0: "Region", 1: "2023 Q1", 2: "2023 Q2", 3: "2024 Q1"}),
        (("1,2", "3,4"), 0, 0, {}),
        (("a,b", "a,c", "d,b"), 0, 0, {}),
        (("only", "one", "column"), 0, 0, {}),
    ],
)  # fmt: skip
def test_headers(lines: tuple[str, ...], above: int, count: int, labels: dict[int, str]) -> None:
    header = find_header([cells for _, cells in rows(*lines)])
    assert (header.above, header.rows, dict(header.labels)) == (above, count, labels)


def test_a_second_table_has_its_own_header_and_a_gap_alone_changes_none() -> None:
    pieces = table_pieces(
        rows("id,v", "1,2", "", "3,4", "", "item,price,unit", "pen,1,box", "ink,2,jar")
    )
    assert [piece.text for piece in pieces] == [
        "id; v", "id: 1; v: 2", "id: 3; v: 4",
        "item; price; unit", "item: pen; price: 1; unit: box", "item: ink; price: 2; unit: jar",
    ]  # fmt: skip


def test_two_columns_without_a_header_are_names_and_values() -> None:
    assert [p.text for p in table_pieces(rows("Width,3", "Height,4"))] == ["Width: 3", "Height: 4"]


CELLS = st.text(st.sampled_from('ab1.,;|\t" \n\r\0é"'), max_size=12)


@given(
    st.lists(st.lists(CELLS, max_size=5).map(";".join), max_size=30).map("\n".join),
    st.sampled_from([".csv", ".tsv"]),
)
def test_any_text_is_read_line_for_line(text: str, ending: str) -> None:
    extracted = load_csv(text.encode(), ending)
    check(extracted)
    if extracted.kind == "csv":
        assert extracted.text.count("\n") <= text.replace("\r\n", "\n").replace("\r", "\n").count(
            "\n"
        )


@given(st.binary(max_size=300))
def test_any_bytes_are_read(data: bytes) -> None:
    check(load_csv(data, ".csv"))


def test_a_file_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "Kunden.CSV"
    path.write_bytes(("Name;Größe\n" + "Müller;3\nJäger;4\n" * 30).encode("cp1252"))
    extracted = load(path)
    assert extracted.text.startswith("Name; Größe\nName: Müller; Größe: 3\n")
    assert extracted.notes[0].startswith("encoding guessed: cp125")
