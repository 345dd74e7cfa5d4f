"""Saved answers, read back so that they can be checked. Pure.

A saved answer is a stranger's file: every type is checked, nothing in it is believed, and a
path in it only counts below the root that it names. What ragcli writes later versions may add
to; what is not known here is passed over.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NoReturn

from ragcli.errors import UsageError
from ragcli.paths import shown
from ragcli.types import Verdict

ANSWER, ANSWERS, EVENT, ERROR = (
    f"ragcli/{name}@1" for name in ("answer", "answers", "event", "error")
)
MOST_QUOTES = 2_000  # citations of one answer; hundreds of times what ragcli gives
HINT = "verify takes what `ragcli ask --json` or `--jsonl` printed"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_WORD = re.compile(r"\w")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that a citation names.

    relative: below the root, exactly as on disk (surrogate escapes). root: None where the
    recorded path does not lie below a root. label: for people. problem: why the path is not
    followed, "" if it may be.
    """

    label: str
    relative: str
    root: Path | None
    sha256: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A cited sentence. start: where it stood in the extracted text, in code points."""

    origin: Origin
    start: int
    text: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of the answer: the [n] marker, the quote, and where people look for it."""

    number: int
    quote: Quote
    page: int | None
    line: int
    place: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the answer with the verdict it was given."""

    start: int
    end: int
    text: str
    verdict: Verdict
    citations: tuple[Cited, ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One saved answer.

    verifier: name of what judged. model_sha256: of the generator, "" if none ran.
    problems: where the document contradicts itself, in words.
    """

    kind: Literal["answer", "abstained", "error"]
    question: str
    text: str = ""
    reason: str = ""
    claims: tuple[Claim, ...] = ()
    verifier: str = ""
    language: str = ""
    model_sha256: str = ""
    reads: bool = True
    problems: tuple[str, ...] = ()


def read_answers(text: str, name: str) -> list[Recorded]:
    """The answers in one JSON document, or in lines of JSON.

    Raises UsageError, in one line that says what is wrong, for anything else. name: the file,
    for people.
    """
    try:
        return [answer for document in _documents(text) for answer in _answers(document)]
    except _No as error:
        raise UsageError(f"{name} is no answer of ragcli: {error}", hint=HINT) from None


class _No(ValueError):
    """What is wrong with the document."""


def _documents(text: str) -> list[Json]:
    """One document, or as many as there are lines."""
    if not text.strip():
        raise _No("it is empty")
    try:
        return [_object(_parse(text), "the document")]
    except json.JSONDecodeError as error:
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not error.msg.startswith("Extra data"):
            raise _No(f"not JSON ({error.msg}, line {error.lineno})") from None
    return _lines(lines)


def _lines(lines: list[tuple[int, str]]) -> list[Json]:
    documents: list[Json] = []
    for number, line in lines:
        try:
            document = _object(_parse(line), f"line {number}")
        except json.JSONDecodeError as error:
            raise _No(f"line {number} is not JSON ({error.msg})") from None
        if document.get("schema") != EVENT:
            documents.append(document)
        elif document.get("event") == "finished":
            documents.append(_object(document.get("answer"), f"line {number}: answer"))
    if not documents:
        raise _No("the stream of events ends before an answer is finished")
    return documents


def _parse(text: str) -> Any:
    """Strict JSON. Raises json.JSONDecodeError, and _No for what the parser will not take."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise _No("nested too deep") from None
    except ValueError as error:
        raise _No(str(error) if isinstance(error, _No) else "a number is too long") from None


def _no_number(name: str) -> NoReturn:
    raise _No(f"{name} is no JSON")


def _answers(document: Json) -> Iterator[Recorded]:
    schema = document.get("schema")
    if schema == ANSWER:
        yield _answer(document)
    elif schema == ERROR:
        yield Recorded("error", _text(document, "question", ""), reason=_text(document, "message"))
    elif schema == EVENT and document.get("event") == "finished":
        yield from _answers(_object(document.get("answer"), "answer"))
    elif schema == ANSWERS:
        for at, one in enumerate(_list(document, "answers")):
            inner = _object(one, f"answers[{at}]")
            if inner.get("schema") not in (ANSWER, ERROR):
                raise _No(f"answers[{at}] is neither an answer nor an error")
            yield from _answers(inner)
    elif isinstance(schema, str):
        raise _No(f"its schema is {shown(_encodable(schema))[:60]!r}")
    else:
        raise _No("it names no schema")


def _answer(document: Json) -> Recorded:
    text, question = _text(document, "answer"), _text(document, "question")
    origin = _object(document.get("provenance", {}), "provenance")
    model = document.get("model")
    abstained = document.get("abstained")
    if not isinstance(abstained, bool):
        raise _No("abstained is neither true nor false")
    claims = tuple(
        _claim(_object(one, f"sentences[{at}]"), f"sentences[{at}].")
        for at, one in enumerate(_list(document, "sentences"))
    )
    if sum(len(claim.citations) for claim in claims) > MOST_QUOTES:
        raise _No(f"more than {MOST_QUOTES} citations")
    if abstained and not claims and not text:
        return Recorded("abstained", question, reason=_text(document, "reason", ""))
    return Recorded(
        "answer",
        question,
        text,
        claims=claims,
        verifier=_text(origin, "verifier", ""),
        language=_text(origin, "language", ""),
        model_sha256=_text(_object(model, "model"), "sha256", "") if model is not None else "",
        reads=bool(claims) or bool(_list(document, "hits")),
        problems=tuple(_contradictions(text, claims)),
    )


def _contradictions(text: str, claims: tuple[Claim, ...]) -> Iterator[str]:
    """Sentences that the answer does not hold, and words of it that no sentence holds."""
    end = 0
    for number, claim in enumerate(claims, 1):
        if text[claim.start : claim.end] != claim.text:
            yield f"sentence {number} is not what the answer says at its place"
        if claim.start < end:
            yield f"sentence {number} overlaps the one before"
        elif claims and _WORD.search(text[end : claim.start]):
            yield f"the answer holds words before sentence {number} that no sentence holds"
        end = max(end, claim.end)
    if claims and _WORD.search(text[end:]):
        yield "the answer holds words after its last sentence"


def _claim(one: Json, at: str) -> Claim:
    start, end = _number(one, "start", at), _number(one, "end", at)
    if end < start:
        raise _No(f"{at}end is before start")
    citations = tuple(
        _citation(_object(cited, f"{at}citations[{n}]"), f"{at}citations[{n}].")
        for n, cited in enumerate(_list(one, "citations", at))
    )
    return Claim(start, end, _text(one, "text", at=at), _verdict(one, at), citations)


def _citation(one: Json, at: str) -> Cited:
    quote = Quote(
        _origin(one, at),
        _number(one, "start", at),
        _text(one, "text", at=at),
        _text(one, "heading", "", at),
    )
    if not quote.text.strip():
        raise _No(f"{at}text is empty")
    page = None if one.get("page") is None else _number(one, "page", at, 1)
    place = "" if one.get("place") is None else _text(one, "place", "", at)
    return Cited(
        _number(one, "number", at, 1), quote, page, _number(one, "line", at, 1), place,
        _verdict(one, at),
    )  # fmt: skip


def _origin(one: Json, at: str) -> Origin:
    """The file, as far as its path can be trusted to lie below the recorded root."""
    sha256 = _text(one, "sha256", at=at)
    if not _SHA256.fullmatch(sha256):
        raise _No(f"{at}sha256 is no SHA-256")
    label, relative = _text(one, "path", at=at), _text(one, "relative", at=at)
    exact = label
    if "path_bytes" in one:
        try:
            exact = os.fsdecode(bytes.fromhex(_text(one, "path_bytes", at=at)))
        except ValueError:
            raise _No(f"{at}path_bytes is not hexadecimal") from None
    label = _encodable(label)
    if (problem := _unsafe(relative)) or "\0" in exact:
        return Origin(label, "", None, sha256, problem or "its path holds a NUL")
    exact = _encodable(exact)
    depth = len(PurePosixPath(relative).parts)
    parts = Path(exact).parts
    tail = "/".join(parts[-depth:])
    if "path_bytes" not in one:
        relative = _encodable(relative)
    if not os.path.isabs(exact) or ".." in parts or shown(tail) != shown(relative):  # noqa: PTH117
        return Origin(label, relative, None, sha256, "its path is not below its recorded root")
    return Origin(label, tail, Path(*parts[:-depth]), sha256)


def _unsafe(relative: str) -> str:
    """Why a path below a root is none, "" if it is one."""
    parts = relative.split("/")
    if not relative or "\0" in relative or any(part in ("", ".", "..") for part in parts):
        return "its path leads out of the recorded root"
    return ""


def _encodable(path: str) -> str:
    """The path as the system can be given it: a surrogate that stands for no byte becomes U+FFFD."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return path.encode("utf-8", "replace").decode("utf-8")
    return path


# Typed access; every failure names the field.


def _object(value: object, name: str) -> Json:
    if not isinstance(value, dict):
        raise _No(f"{name} is no object")
    return value


def _list(document: Json, key: str, at: str = "") -> list[Any]:
    value = document.get(key)
    if not isinstance(value, list):
        raise _No(f"{at}{key} is no list")
    return value


def _text(document: Json, key: str, default: str | None = None, at: str = "") -> str:
    value = document.get(key, default)
    if not isinstance(value, str):
        raise _No(f"{at}{key} is no text")
    return value


def _number(document: Json, key: str, at: str = "", low: int = 0) -> int:
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise _No(f"{at}{key} is no number from {low}")
    return min(value, 2**62)


def _verdict(document: Json, at: str) -> Verdict:
    value = document.get("verdict")
    if not isinstance(value, str) or value not in set(Verdict):
        raise _No(f"{at}verdict is none of {', '.join(Verdict)}")
    return Verdict(value)
