import json
import math
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli import events as ev
from ragcli import schemas
from ragcli.render import excerpt, indexing
from ragcli.render import json as documents
from ragcli.render.answer import Searched, searched_document
from ragcli.types import FileStatus, Span

from . import records


def check(name: str, document: dict) -> dict:
    """The document as a reader gets it, valid for its schema."""
    read = json.loads(documents.dumps(document))
    jsonschema.Draft202012Validator(schemas.load(name)).validate(read)
    assert read["schema"] == f"ragcli/{name}"
    return read


@pytest.mark.parametrize("name", schemas.names())
def test_schemas_are_schemas_and_strict(name):
    schema = schemas.load(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert jsonschema.Draft202012Validator(schema).is_valid({"schema": f"ragcli/{name}"}) is False


def test_every_object_of_a_schema_is_closed():
    open_by_design = {"model", "parameters", "provenance", "timings", "index", "encoder"}

    def closed(node, name=""):
        if isinstance(node, list):
            return all(closed(one) for one in node)
        if not isinstance(node, dict):
            return True
        if "properties" in node and name not in open_by_design:
            within_all_of = node.get("required") is not None and "allOf" not in node
            assert node.get("additionalProperties") is False or (
                node.get("unevaluatedProperties") is False or name in {"document", "place"}
            ), (name, within_all_of)
        return all(closed(value, key) for key, value in node.items())

    assert all(closed(schemas.load(name)) for name in schemas.names())


def test_unknown_schema():
    with pytest.raises(KeyError):
        schemas.load("nothing@1")


@pytest.mark.parametrize("answer", [records.answer(), records.abstained()])
def test_answers(answer):
    searched = searched_document(Searched(1, 2, unread=((Path("/a.pdf"), "broken"),)))
    one = check("answer@1", documents.answer_document(answer, searched))
    assert one["abstained"] is answer.abstained
    assert one["searched"]["unread"] == [{"path": "/a.pdf", "reason": "broken"}]
    error = documents.error_document("model", 4, "no model", "get one", question="q")
    check("answers@1", documents.answers_document([one, error]))
    assert len(one["tokens"]) == len(answer.steps)


def test_answer_names_what_a_reader_needs():
    one = check("answer@1", documents.answer_document(records.answer()))
    cited = one["sentences"][0]["citations"][0]
    assert (cited["path"], cited["line"], cited["page"]) == ("/srv/notes/boiler.md", 3, None)
    assert records.TEXT[cited["start"] : cited["end"]] == cited["text"]
    assert (
        one["answer"][one["sentences"][1]["start"] : one["sentences"][1]["end"]]
        == (one["sentences"][1]["text"])
    )
    assert one["tokens"][3]["alternative"] == " 4"
    assert one["model"] == {"name": "tiny"}
    assert one["parameters"] == {"fke.alpha": 1.0}
    assert one["provenance"] == {"index": {"generation": 3}}


def test_search_with_and_without_hits():
    for hits in ([records.hit(), records.hit(page=2)], [], [replace(records.hit(), dense=None)]):
        found = documents.search_document(
            "q", hits, mode="hybrid", k=10, globs=["*.md"], index={"generation": 1}
        )
        assert len(check("search@1", found)["hits"]) == len(hits)


EVENTS = [
    ev.Scanned(3, 2, 100),
    ev.FileDone(Path("/a/b.md"), FileStatus.FAILED, "broken", 10),
    ev.Progress("embed", 1, 2),
    ev.Indexed(1, 1, 0, 0, 0, 0, 0, 0, 5, 1, 0.5, ("a warning",)),
    ev.Verified(3, 1, ("the dense index: written anew",)),
    ev.Removed(Path("/a/gone.md")),
    ev.Retrieved((records.hit(),)),
    ev.Selected(records.answer().selected, "rank"),
    ev.Token(records.steps()[3]),
    ev.Cited(records.answer().sentences[0]),
    ev.Warned("careful"),
    ev.Finished(records.answer()),
    records.hit(),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_events(event):
    line = documents.event_document(event, {1: records.document()})
    assert check("event@1", line)["event"] == type(event).__name__.lower()


def test_every_event_has_a_json_form():
    kinds = {
        one for one in vars(ev).values() if isinstance(one, type) and issubclass(one, ev.Event)
    }
    assert kinds - {ev.Event} == {type(event) for event in EVENTS} - {type(records.hit())}
    with pytest.raises(TypeError):
        documents.event_document(ev.Event())


def test_index_summary():
    report = indexing.Report()
    for event in EVENTS[:4]:
        report.take(event)
    read = check("index@1", indexing.index_document(report, Path("/a/.ragcli")))
    assert "verified" not in read
    report.take(EVENTS[4])
    read = check("index@1", indexing.index_document(report, Path("/a/.ragcli")))
    assert (read["verified"]["files"], read["verified"]["changed"]) == (3, 1)
    assert read["files"][0]["reason"] == "broken"
    assert read["warnings"] == ["a warning"]


def test_excerpt():
    shown = excerpt.excerpt(records.document(), "a\nb\nc\n", [], Span(2, 3), context=1)
    read = check("show@1", excerpt.show_document(shown))
    assert [line["marked"] for line in read["lines"]] == [False, True, False]


def test_undecodable_path_is_valid_and_exact():
    import os

    path = os.fsdecode(b"/srv/caf\xe9.md")
    found = documents.search_document("q", [records.hit(path)], mode="dense", k=1, index={})
    read = check("search@1", found)
    assert read["hits"][0]["path"] == "/srv/caf\\xe9.md"
    assert bytes.fromhex(read["hits"][0]["path_bytes"]) == b"/srv/caf\xe9.md"
    assert (
        "path_bytes"
        not in check(
            "search@1", documents.search_document("q", [records.hit()], mode="dense", k=1, index={})
        )["hits"][0]
    )


@given(
    st.recursive(
        st.none() | st.floats() | st.text(st.characters()) | st.integers() | st.booleans(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    )
)
def test_any_document_is_one_line_of_valid_utf8_json(value):
    text = documents.dumps({"value": value})
    assert "\n" not in text
    json.loads(text.encode("utf-8"), parse_constant=lambda name: pytest.fail(name))
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (math.nan, "null"),
        (-math.inf, "null"),
        (0.1 + 0.2, "0.3"),
        ("\ud800x", '"\ufffdx"'),
        ("\x1b[31m", '"\\u001b[31m"'),
        ("\x9b31m", '"\\u009b31m"'),
        (Path("/a/b"), '"/a/b"'),
        (FileStatus.FAILED, '"failed"'),
    ],
)
def test_awkward_values(value, written):
    assert documents.dumps({"v": value}) == f'{{"v": {written}}}'
