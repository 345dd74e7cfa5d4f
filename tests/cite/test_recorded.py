"""Saved answers are read back, and nothing in them is believed."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cite.recorded import Recorded, read_answers
from ragcli.errors import UsageError
from ragcli.types import Verdict

from .saved import QUESTION, answer, citation, sentence

CODE = "The door code is 4711."


@pytest.fixture
def door(tmp_path: Path) -> Path:
    file = tmp_path / "door.txt"
    file.write_text(f"Notes.\n\n{CODE}\n")
    return file


@pytest.fixture
def saved(door: Path) -> dict[str, Any]:
    return answer(sentence(CODE, citation(door, CODE)))


def only(document: object) -> Recorded:
    (found,) = read_answers(json.dumps(document), "a.json")
    return found


def refused(text: str) -> str:
    with pytest.raises(UsageError, match=r"^a\.json is no answer of ragcli: ") as caught:
        read_answers(text, "a.json")
    message = caught.value.message
    assert "\n" not in message
    assert len(message) < 300
    return message.removeprefix("a.json is no answer of ragcli: ")


def test_an_answer(saved: dict[str, Any], door: Path) -> None:
    found = only(saved)
    assert (found.kind, found.question, found.text) == ("answer", QUESTION, CODE)
    assert found.problems == ()
    (claim,) = found.claims
    (cited,) = claim.citations
    assert (claim.verdict, cited.number, cited.line) == (Verdict.SUPPORTED, 1, 3)
    origin = cited.quote.origin
    assert (origin.root, origin.relative, origin.problem) == (door.parent, "door.txt", "")


def test_a_batch_and_lines(saved: dict[str, Any]) -> None:
    error = {"schema": "ragcli/error@1", "code": "x", "message": "no", "question": "What?"}
    batch = {"schema": "ragcli/answers@1", "answers": [saved, error, answer()]}
    kinds = ["answer", "error", "abstained"]
    assert [one.kind for one in read_answers(json.dumps(batch), "-")] == kinds
    assert [one.kind for one in read_answers(json.dumps(batch, indent=2), "-")] == kinds
    lines = "\n".join(json.dumps(one) for one in batch["answers"])
    assert [one.kind for one in read_answers(lines + "\n\n", "-")] == kinds


def test_a_stream_of_events(saved: dict[str, Any]) -> None:
    token = {"schema": "ragcli/event@1", "event": "token", "token": {}}
    finished = {"schema": "ragcli/event@1", "event": "finished", "answer": saved}
    lines = [json.dumps(one) for one in (token, token, finished)]
    assert [one.kind for one in read_answers("\r\n".join(lines), "-")] == ["answer"]
    assert [one.kind for one in read_answers(lines[-1], "-")] == ["answer"]
    assert "before an answer is finished" in refused("\n".join(lines[:2]))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("  \n ", "it is empty"),
        ("hello", "not JSON"),
        ("{", "not JSON"),
        ("[]", "the document is no object"),
        ("3", "the document is no object"),
        ("{}", "it names no schema"),
        ('{"schema": 3}', "it names no schema"),
        ('{"schema": "ragcli/search@1"}', "its schema is 'ragcli/search@1'"),
        ('{"schema": "\\ud800"}', "its schema is '?'"),
        ('{"schema": NaN}', "NaN is no JSON"),
        ('{"schema": -Infinity}', "-Infinity is no JSON"),
        ("[" * 200_000, "nested too deep"),
        ('{"a":' * 100_000, "nested too deep"),
        ("9" * 10_000, "a number is too long"),
        ('{"schema": "ragcli/answers@1", "answers": [3]}', "answers[0] is no object"),
        ('{"schema": "ragcli/answers@1", "answers": [{"schema": "ragcli/answers@1"}]}',
         "answers[0] is neither an answer nor an error"),
        ('{"schema": "ragcli/event@1", "event": "token"}', "its schema is 'ragcli/event@1'"),
        ('{"schema": "ragcli/answer@1"}\n{"schema": ', "line 2 is not JSON"),
    ],
)  # fmt: skip
def test_what_is_no_answer(text: str, why: str) -> None:
    assert refused(text).startswith(why)


WRONG: list[tuple[str, object]] = [
    ("question", None), ("answer", 3), ("abstained", "no"), ("sentences", {}), ("model", []),
    ("sentences.0", 7), ("sentences.0.start", -1), ("sentences.0.start", True),
    ("sentences.0.end", 1.5), ("sentences.0.verdict", "true"), ("sentences.0.verdict", []),
    ("sentences.0.citations", None), ("sentences.0.citations.0", "x"),
    ("sentences.0.citations.0.sha256", "A" * 64), ("sentences.0.citations.0.path", None),
    ("sentences.0.citations.0.relative", 3), ("sentences.0.citations.0.text", "  "),
    ("sentences.0.citations.0.number", 0), ("sentences.0.citations.0.line", 1e9),
    ("sentences.0.citations.0.page", "1"), ("sentences.0.citations.0.path_bytes", "zz"),
    ("provenance", None), ("provenance.verifier", {}),
]  # fmt: skip


@pytest.mark.parametrize(("where", "value"), WRONG)
def test_a_wrong_type_is_named(saved: dict[str, Any], where: str, value: object) -> None:
    parts = where.split(".")
    node: Any = saved
    for part in parts[:-1]:
        node = node[int(part)] if part.isdigit() else node[part]
    node[int(parts[-1]) if parts[-1].isdigit() else parts[-1]] = value
    last = next(part for part in reversed(parts) if not part.isdigit())
    assert last in refused(json.dumps(saved))


def test_too_many_citations(saved: dict[str, Any]) -> None:
    saved["sentences"][0]["citations"] *= 2_001
    assert "more than 2000 citations" in refused(json.dumps(saved))


@pytest.mark.parametrize(
    ("path", "relative", "problem"),
    [
        ("/a/b/door.txt", "b/door.txt", ""),
        ("/etc/passwd", "../../etc/passwd", "leads out of the recorded root"),
        ("/a/../etc/passwd", "etc/passwd", "not below its recorded root"),
        ("/etc/passwd", "/etc/passwd", "leads out of the recorded root"),
        ("/etc/passwd", "notes/door.txt", "not below its recorded root"),
        ("passwd", "passwd", "not below its recorded root"),
        ("/a/door.txt", "", "leads out of the recorded root"),
        ("/a/door.txt", "./door.txt", "leads out of the recorded root"),
        ("/a/do\0r.txt", "do\0r.txt", "leads out of the recorded root"),
        ("/a/\0/b.txt", "b.txt", "NUL"),
        ("C:\\a\\b.txt", "b.txt", "not below its recorded root"),
    ],
)
def test_paths_are_followed_below_their_root_only(
    door: Path, path: str, relative: str, problem: str
) -> None:
    found = only(answer(sentence(CODE, citation(door, CODE, path=path, relative=relative))))
    origin = found.claims[0].citations[0].quote.origin
    assert problem in origin.problem
    assert bool(origin.problem) == bool(problem)
    assert (origin.root is None) == bool(problem)


def test_names_that_are_not_utf8_are_exact(door: Path) -> None:
    cited = citation(
        door, CODE, path="/a/d\\xff.txt", relative="d\\xff.txt", path_bytes=b"/a/d\xff.txt".hex()
    )
    origin = only(answer(sentence(CODE, cited))).claims[0].citations[0].quote.origin
    assert (origin.root, origin.relative) == (Path("/a"), "d\udcff.txt")


def test_an_answer_that_contradicts_itself(door: Path) -> None:
    first = sentence(CODE, citation(door, CODE))
    second = sentence("It is old.", start=23, verdict="unsupported")
    assert only(answer(first, second)).problems == ()
    changed = only(answer(first, second, text=f"{CODE} It is new."))
    assert changed.problems == ("sentence 2 is not what the answer says at its place",)
    more = only(answer(first, text=f"{CODE} The safe is open."))
    assert more.problems == ("the answer holds words after its last sentence",)
    before = only(answer(sentence("It is old.", start=23), text=f"{CODE} It is old."))
    assert before.problems == ("the answer holds words before sentence 1 that no sentence holds",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(data=st.data())
def test_anything_is_read_or_refused(data: st.DataObject) -> None:
    """One node of an answer, whichever, is replaced by any JSON."""
    cited = {
        "number": 1, "path": "/a/b.txt", "relative": "b.txt", "sha256": "0" * 64, "page": None,
        "line": 1, "place": None, "start": 0, "end": 1, "heading": "", "text": "x", "score": 1.0,
        "verdict": "partly",
    }  # fmt: skip
    document = answer(sentence("A b.", cited))
    nodes: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            nodes.append((node, key))
            if isinstance(node[key], (dict, list)):
                collect(node[key])

    collect(document)
    node, key = data.draw(st.sampled_from(nodes))
    node[key] = data.draw(JSON)
    with suppress(UsageError):
        assert all(isinstance(one, Recorded) for one in read_answers(json.dumps(document), "-"))
