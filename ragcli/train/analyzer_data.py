"""What an analyzer learns from: JSON lines in paper 001's two formats (appendix B).

    {"question": …, "components": [{"text": …, "attribute": "variant"}, …]}
    {"question": …, "passage": …, "components": [{"text": …, "attribute": …, "relevant": 0.8}, …]}
    {"question": …, "passage": …, "component": …, "relevant": true}

`relevant` is true, false or a number from 0 to 1; a passage may have a `title`. Lines of the third
form are one row where question and passage are the same; a component that is only a text has the
attribute that a line of the first form gives it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ragcli.errors import UsageError
from ragcli.llm.prompts.analyzer import listed
from ragcli.paths import shown
from ragcli.selection.analyzers import Text
from ragcli.selection.components import LABELS, parse_components, settle
from ragcli.text.language import detect
from ragcli.text.normalise import readable
from ragcli.types import Component

_FORMATS = (
    'a line is such as {"question": "…", "components": [{"text": "…", "attribute": "variant"}]}'
)
_ATTRIBUTES = ("invariant", "variant", "supplementary")


@dataclass(frozen=True, slots=True)
class Elements:
    """A question taken apart."""

    question: str
    components: tuple[Component, ...]


@dataclass(frozen=True, slots=True)
class Relevance:
    """How relevant a passage is by each component: scores in [0, 1], None where it is not known."""

    question: str
    components: tuple[Component, ...]
    scores: tuple[float | None, ...]
    text: Text


Row = Elements | Relevance


def read(files: Iterable[Path]) -> tuple[Row, ...]:
    """The rows of all files, each once. Raises UsageError, which names line and field."""
    gathered = _Gathered()
    for file in files:
        _read(file, gathered)
    rows = tuple(dict.fromkeys((*gathered.rows, *gathered.joined())))
    if not rows:
        raise UsageError("there is nothing to learn from: no rows", hint=_FORMATS)
    return rows


def _read(file: Path, gathered: _Gathered) -> None:
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UsageError(f"cannot read {shown(file)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(file)} is not UTF-8 text", hint=_FORMATS) from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            gathered.add(_Line(file, number, line))


class _Line:
    """One line of a file: its fields, and what is wrong with them."""

    def __init__(self, file: Path, number: int, text: str) -> None:
        self._where = f"{shown(file)}, line {number}"
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.fail("", f"is no JSON ({str(error).splitlines()[0]})")
        if not isinstance(found, dict):
            self.fail("", "is no JSON object")
        self.fields: Mapping[str, Any] = found

    def fail(self, name: str, reason: str) -> NoReturn:
        raise UsageError(f"{self._where}: {name}{' ' if name else ''}{reason}", hint=_FORMATS)

    def text(self, name: str, default: str | None = None) -> str:
        value = self.fields.get(name, default)
        if value is None:
            self.fail(name, "is missing")
        if not isinstance(value, str) or (default is None and not value.strip()):
            self.fail(name, "must be a text" + (", not an empty one" if value == "" else ""))
        return str(value)

    def component(self, value: Any, name: str) -> Component:
        """As it comes back from an output that lists it."""
        if not isinstance(value, dict):
            self.fail(name, "must be an object with text and attribute")
        text, attribute = value.get("text"), value.get("attribute")
        if not isinstance(text, str) or not text.strip():
            self.fail(f"{name}.text", "is missing" if text is None else "must be a text")
        kind = (
            LABELS.get(attribute.casefold().strip("<>⟨⟩ ")) if isinstance(attribute, str) else None
        )
        if kind is None:
            self.fail(f"{name}.attribute", f"must be one of {', '.join(_ATTRIBUTES)}")
        back = parse_components(listed([Component(kind, text)]))
        clean = readable(text)
        if len(back) != 1 or any(c.isalnum() for c in clean.replace(back[0].text, "", 1)):
            self.fail(f"{name}.text", "holds what parts components in an output: ; or a label")
        return back[0]

    def relevant(self, value: Any, name: str) -> float:
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            reason = "is missing" if value is None else "must be true, false or from 0 to 1"
            self.fail(name, reason)
        return float(value)


@dataclass(slots=True)
class _Gathered:
    """Rows so far. parts: of lines that give one component each, by question and passage."""

    rows: list[Row] = field(default_factory=list)
    parts: dict[tuple[str, str, str], list[tuple[Component | str, float, _Line]]] = field(
        default_factory=dict
    )

    def add(self, line: _Line) -> None:
        question = line.text("question")
        if "component" in line.fields:
            key = (question, line.text("title", ""), line.text("passage"))
            value = line.fields["component"]
            if not isinstance(value, str) or not value.strip():
                value = line.component(value, "component")
            score = line.relevant(line.fields.get("relevant"), "relevant")
            self.parts.setdefault(key, []).append((value, score, line))
            return
        listed_ = line.fields.get("components")
        if not isinstance(listed_, list) or not listed_:
            line.fail("components", "is missing" if listed_ is None else "must be a list of them")
        found = [line.component(one, f"components[{at}]") for at, one in enumerate(listed_)]
        if "passage" not in line.fields:
            self.rows.append(Elements(question, settle(found)))
            return
        scores = [
            None
            if one.kind == "invariant" and "relevant" not in raw
            else line.relevant(raw.get("relevant"), f"components[{at}].relevant")
            for at, (one, raw) in enumerate(zip(found, listed_, strict=True))
        ]
        text = _text(line.text("title", ""), line.text("passage"))
        self.rows.append(_relevance(question, text, zip(found, scores, strict=True)))

    def joined(self) -> Iterable[Row]:
        """A row for each question and passage of single components, in the question's order."""
        known = {
            one.question: {c.text.casefold(): (at, c) for at, c in enumerate(one.components)}
            for one in self.rows
            if isinstance(one, Elements)
        }
        for (question, title, passage), parts in self.parts.items():
            places = known.get(question, {})
            scored = sorted(
                ((*_placed(value, line, places), score) for value, score, line in parts),
                key=lambda item: item[0],
            )
            yield _relevance(question, _text(title, passage), [item[1:] for item in scored])


def _placed(
    value: Component | str, line: _Line, places: Mapping[str, tuple[int, Component]]
) -> tuple[int, Component]:
    """Place in the question's list, and the component; one that is not listed comes last."""
    if isinstance(value, Component):
        return places.get(value.text.casefold(), (len(places),))[0], value
    text = line.component({"text": value, "attribute": "variant"}, "component").text
    if text.casefold() not in places:
        line.fail("component", "has no attribute: no line lists it for this question")
    return places[text.casefold()]


def _relevance(
    question: str, text: Text, scored: Iterable[tuple[Component, float | None]]
) -> Relevance:
    """The components as the engine has them, with the first score given for each."""
    pairs = list(scored)
    kept = settle(one for one, _ in pairs)
    first = {one.text.casefold(): score for one, score in reversed(pairs)}
    return Relevance(question, kept, tuple(first[one.text.casefold()] for one in kept), text)


def _text(title: str, passage: str) -> Text:
    return Text(title, (passage,), detect(passage) or "en")
