"""Saved answers, read back so that they can be checked. Pure.

A saved answer is a stranger's file: every type is checked, nothing in it is believed, and a
path in it only counts below the root that it names. What ragcli writes later versions may add
to; what is not known here is passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from ragcli.cite.savedjson import (
    ANSWER,
    ANSWERS,
    ERROR,
    EVENT,
    Json,
    NoAnswer,
    documents,
    list_of,
    number_of,
    object_of,
    text_of,
    verdict_of,
)
from ragcli.errors import UsageError
from ragcli.paths import shown
from ragcli.types import Verdict

MOST_QUOTES = 2_000  # citations of one answer; hundreds of times what ragcli gives
HINT = "verify takes what `ragcli ask --json` or `--jsonl` printed"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_WORD = re.compile(r"\w")


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
        return [answer for document in documents(text) for answer in _answers(document)]
    except NoAnswer as error:
        raise UsageError(f"{name} is no answer of ragcli: {error}", hint=HINT) from None


def _answers(document: Json) -> Iterator[Recorded]:
    schema = document.get("schema")
    if schema == ANSWER:
        yield _answer(document)
    elif schema == ERROR:
        yield Recorded(
            "error", text_of(document, "question", ""), reason=text_of(document, "message")
        )
    elif schema == EVENT and document.get("event") == "finished":
        yield from _answers(object_of(document.get("answer"), "answer"))
    elif schema == ANSWERS:
        for at, one in enumerate(list_of(document, "answers")):
            inner = object_of(one, f"answers[{at}]")
            if inner.get("schema") not in (ANSWER, ERROR):
                raise NoAnswer(f"answers[{at}] is neither an answer nor an error")
            yield from _answers(inner)
    elif isinstance(schema, str):
        raise NoAnswer(f"its schema is {shown(_encodable(schema))[:60]!r}")
    else:
        raise NoAnswer("it names no schema")


def _answer(document: Json) -> Recorded:
    text, question = text_of(document, "answer"), text_of(document, "question")
    origin = object_of(document.get("provenance", {}), "provenance")
    model = document.get("model")
    abstained = document.get("abstained")
    if not isinstance(abstained, bool):
        raise NoAnswer("abstained is neither true nor false")
    claims = tuple(
        _claim(object_of(one, f"sentences[{at}]"), f"sentences[{at}].")
        for at, one in enumerate(list_of(document, "sentences"))
    )
    if sum(len(claim.citations) for claim in claims) > MOST_QUOTES:
        raise NoAnswer(f"more than {MOST_QUOTES} citations")
    if abstained and not claims and not text:
        return Recorded("abstained", question, reason=text_of(document, "reason", ""))
    return Recorded(
        "answer",
        question,
        text,
        claims=claims,
        verifier=text_of(origin, "verifier", ""),
        language=text_of(origin, "language", ""),
        model_sha256=text_of(object_of(model, "model"), "sha256", "") if model is not None else "",
        reads=bool(claims) or bool(list_of(document, "hits")),
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
    start, end = number_of(one, "start", at), number_of(one, "end", at)
    if end < start:
        raise NoAnswer(f"{at}end is before start")
    citations = tuple(
        _citation(object_of(cited, f"{at}citations[{n}]"), f"{at}citations[{n}].")
        for n, cited in enumerate(list_of(one, "citations", at))
    )
    return Claim(start, end, text_of(one, "text", at=at), verdict_of(one, at), citations)


def _citation(one: Json, at: str) -> Cited:
    quote = Quote(
        _origin(one, at),
        number_of(one, "start", at),
        text_of(one, "text", at=at),
        text_of(one, "heading", "", at),
    )
    if not quote.text.strip():
        raise NoAnswer(f"{at}text is empty")
    page = None if one.get("page") is None else number_of(one, "page", at, 1)
    place = "" if one.get("place") is None else text_of(one, "place", "", at)
    return Cited(
        number_of(one, "number", at, 1), quote, page, number_of(one, "line", at, 1), place,
        verdict_of(one, at),
    )  # fmt: skip


def _origin(one: Json, at: str) -> Origin:
    """The file, as far as its path can be trusted to lie below the recorded root."""
    sha256 = text_of(one, "sha256", at=at)
    if not _SHA256.fullmatch(sha256):
        raise NoAnswer(f"{at}sha256 is no SHA-256")
    label, relative = text_of(one, "path", at=at), text_of(one, "relative", at=at)
    exact = label
    if "path_bytes" in one:
        try:
            exact = os.fsdecode(bytes.fromhex(text_of(one, "path_bytes", at=at)))
        except ValueError:
            raise NoAnswer(f"{at}path_bytes is not hexadecimal") from None
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
