"""JSON that a stranger may have written: strict, and every access checked. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from ragcli.types import Verdict

ANSWER, ANSWERS, EVENT, ERROR = (
    f"ragcli/{name}@1" for name in ("answer", "answers", "event", "error")
)

Json = Mapping[str, Any]


class NoAnswer(ValueError):
    """What is wrong with the document."""


def documents(text: str) -> list[Json]:
    """One document, or as many as there are lines."""
    if not text.strip():
        raise NoAnswer("it is empty")
    try:
        return [object_of(_parse(text), "the document")]
    except json.JSONDecodeError as error:
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not error.msg.startswith("Extra data"):
            raise NoAnswer(f"not JSON ({error.msg}, line {error.lineno})") from None
    return _lines(lines)


def _lines(lines: list[tuple[int, str]]) -> list[Json]:
    documents: list[Json] = []
    for number, line in lines:
        try:
            document = object_of(_parse(line), f"line {number}")
        except json.JSONDecodeError as error:
            raise NoAnswer(f"line {number} is not JSON ({error.msg})") from None
        if document.get("schema") != EVENT:
            documents.append(document)
        elif document.get("event") == "finished":
            documents.append(object_of(document.get("answer"), f"line {number}: answer"))
    if not documents:
        raise NoAnswer("the stream of events ends before an answer is finished")
    return documents


def _parse(text: str) -> Any:
    """Strict JSON. Raises json.JSONDecodeError, and NoAnswer for what the parser will not take."""
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise NoAnswer("nested too deep") from None
    except ValueError as error:
        raise NoAnswer(
            str(error) if isinstance(error, NoAnswer) else "a number is too long"
        ) from None


def _no_number(name: str) -> NoReturn:
    raise NoAnswer(f"{name} is no JSON")


# Typed access; every failure names the field.


def object_of(value: object, name: str) -> Json:
    if not isinstance(value, dict):
        raise NoAnswer(f"{name} is no object")
    return value


def list_of(document: Json, key: str, at: str = "") -> list[Any]:
    value = document.get(key)
    if not isinstance(value, list):
        raise NoAnswer(f"{at}{key} is no list")
    return value


def text_of(document: Json, key: str, default: str | None = None, at: str = "") -> str:
    value = document.get(key, default)
    if not isinstance(value, str):
        raise NoAnswer(f"{at}{key} is no text")
    return value


def number_of(document: Json, key: str, at: str = "", low: int = 0) -> int:
    value = document.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise NoAnswer(f"{at}{key} is no number from {low}")
    return min(value, 2**62)


def verdict_of(document: Json, at: str) -> Verdict:
    value = document.get("verdict")
    if not isinstance(value, str) or value not in set(Verdict):
        raise NoAnswer(f"{at}verdict is none of {', '.join(Verdict)}")
    return Verdict(value)
