import json
from pathlib import Path

import pytest

from ragcli.errors import SourceError
from ragcli.sources.json import load_json, load_jsonl
from ragcli.sources.load import load
from tests.sources.checks import check, named, place, same_lines, sentences, shown

PRETTY = """{
  "name": "Kessel \\u00e9 \\"x\\"",
  "address": {
    "city": "New York",
    "geo": {
      "note": "Deep. Inside."
    },
    "zip": "1"
  },
  "items": [
    {
      "id": 1
    },
    {
      "id": 2
    }
  ],
  "last": true
}
"""


def test_a_file_with_lines_keeps_them() -> None:
    found = load_json(PRETTY.encode(), ".json")
    check(found)
    same_lines(found, PRETTY.encode())
    assert (found.kind, found.notes, found.places) == ("json", (), ())
    assert named(found) == [
        (1, "address", '"address": {'),
        (2, "geo", '"geo": {'),
        (2, "", '"zip": "1"'),
        (1, "items", '"items": ['),
        (2, "[0]", "{"),
        (2, "[1]", "{"),
        (1, "", '"last": true'),
    ]
    assert (2, '"name": "Kessel é "x"",') in sentences(found)
    assert (6, '"note": "Deep. Inside." },') in sentences(found)


def test_a_file_without_lines_is_laid_out() -> None:
    data = {
        "items": [
            {
                "id": i,
                "name": f"Item {i} é",
                "tags": ["a", "b"],
                "sub": {"deep": {"er": {"x": "A\nline."}}},
            }
            for i in range(30)
        ],
        "v": None,
    }
    found = load_json(json.dumps(data).encode(), ".json")
    check(found)
    lines = found.text.split("\n")
    assert lines[:4] == [
        "items[0].id: 0",
        "items[0].name: Item 0 é",
        "items[0].tags: a, b",
        "deep.er.x: A line.",
    ]
    assert place(found, "Item 7 é") == "items[7]"
    assert place(found, "v: null") == ""
    assert [name for _, name, _ in named(found)][:2] == ["items[0]", "items[1]"]


def test_long_runs_of_numbers_are_left_out() -> None:
    found = load_json(json.dumps({"v": list(range(2000)), "w": "x" * 1000}).encode(), "")
    assert "v: 0, 1, 2" in found.text
    assert "1999" not in found.text
    lines = json.dumps({"v": list(range(2000)), "w": "yes"}, indent=1)
    said = " ".join(text for _, text in sentences(load_json(lines.encode(), "")))
    assert "1000" not in said
    assert "yes" in said


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a": [1, 2}',
        '{"a": 1} trailing',
        '{"a": "unclosed',
        "[1, 2]]",
        "",
        '{"a": 1}\n{"b": 2}',
        "[" * 9999,
    ],
)
def test_what_is_cut_is_text(text: str) -> None:
    found = load_json(text.encode(), ".json")
    check(found)
    assert found.text == text
    assert found.notes == ("not valid JSON: read as text",)


def test_depth_is_no_matter() -> None:
    text = '{"a":' * 50_000 + '"found"' + "}" * 50_000
    assert load_json(text.encode(), "").text == "a.a.a: found"


def test_records_a_line() -> None:
    data = (
        b'{"id": 1, "text": "The pump \\u00e9 runs.\\nTwice.", "m": {"k": [1, 2]}}\n'
        b"\n"
        b"broken {\n"
        b'["x", {"y": "z"}]\n'
    )
    found = load_jsonl(data, ".jsonl")
    check(found)
    assert (
        found.text
        == "id: 1 | text: The pump é runs. Twice. | m.k: 1, 2\n\nbroken {\nx | [1].y: z\n"
    )
    assert found.notes == ("1 lines are no JSON: read as text",)
    assert [text for _, _, text in shown(found)] == [
        line for line in found.text.split("\n") if line
    ]
    assert (4, "x | [1].y: z") in sentences(found)


def test_a_cut_one(shared_files: Path) -> None:
    data = (shared_files / "fixtures" / "text" / "fake-incomplete-json.txt").read_bytes()
    found = load_json(data, ".json")
    assert (4, '"email": "johndoe@example.com",') in sentences(found)


def test_what_holds_nothing_to_read_is_not_called_empty(tmp_path: Path) -> None:
    said: list[str] = []
    for name, text in (
        ("a.json", "[" * 9_000 + "]" * 9_000),
        ("b.json", "\ufeff \n"),
        ("c.org", "# comment\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(SourceError) as error:
            load(tmp_path / name)
        said.append(error.value.message)
    assert said == ["no readable text", "empty", "no readable text"]
