"""Chat templates: the model's own Jinja template, rendered in a sandbox, cut at the contents.

Messages hold markers instead of texts; the rendered template is cut at the markers, so that
what the template wrote is told apart from what documents say, whatever they say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ragcli.llm.base import PromptPiece

_SYSTEM, _USER = "RAGCLIxSYSTEMxTEXT", "RAGCLIxUSERxTEXT"
_MARKER = re.compile(f"({_SYSTEM}|{_USER})")
# Templates that print today's date get this one: the same question gives the same prompt.
_TODAY = datetime(2025, 1, 1, 12)

NO_TEMPLATE = "the model has no chat template: a plain System/User/Assistant layout is used"
BAD_TEMPLATE = "the model's chat template cannot be used: a plain layout is used"
NO_SYSTEM = "the model's chat template has no system role: the instructions open the question"


def chat_pieces(
    template: str,
    system: str,
    user: Sequence[PromptPiece],
    assistant_prefix: str = "",
    *,
    bos: str = "",
    eos: str = "",
) -> tuple[tuple[PromptPiece, ...], tuple[str, ...]]:
    """The pieces of a chat prompt that ends where the answer begins, and notes for people.

    Only the template's own text is marked `control`.
    """
    contents = {
        _SYSTEM: (PromptPiece(system, fixed=True),),
        _USER: tuple(
            PromptPiece(piece.text, source=piece.source, fixed=piece.fixed) for piece in user
        ),
    }
    opening = PromptPiece(f"{system}\n\n", fixed=True)
    merged = {**contents, _USER: (opening, *contents[_USER])}
    tail = (PromptPiece(assistant_prefix),) if assistant_prefix else ()
    tokens = {"bos_token": bos, "eos_token": eos}
    if not template:
        return _plain(contents, system) + tail, (NO_TEMPLATE,)
    if system and (parts := _rendered(template, (_SYSTEM, _USER), tokens)):
        return _filled(parts, contents) + tail, ()
    if parts := _rendered(template, (_USER,), tokens):
        notes = (NO_SYSTEM,) if system else ()
        return _filled(parts, merged if system else contents) + tail, notes
    return _plain(contents, system) + tail, (BAD_TEMPLATE,)


def _filled(
    parts: Sequence[str], contents: dict[str, tuple[PromptPiece, ...]]
) -> tuple[PromptPiece, ...]:
    pieces: list[PromptPiece] = []
    for part in parts:
        pieces.extend(contents.get(part) or (PromptPiece(part, control=True),))
    return tuple(pieces)


def _plain(contents: dict[str, tuple[PromptPiece, ...]], system: str) -> tuple[PromptPiece, ...]:
    head = (PromptPiece(f"System: {system}\n\n", fixed=True),) if system else ()
    return (
        *head,
        PromptPiece("User: ", fixed=True),
        *contents[_USER],
        PromptPiece("\n\nAssistant: "),
    )


def _rendered(template: str, markers: tuple[str, ...], tokens: dict[str, str]) -> list[str]:
    """The template's text cut at the markers; empty if it refuses, fails or drops a message."""
    role = {_SYSTEM: "system", _USER: "user"}
    messages = [{"role": role[marker], "content": marker} for marker in markers]
    try:
        text = _compiled(template).render(
            messages=messages, add_generation_prompt=True, enable_thinking=False, **tokens
        )
    except Exception:  # noqa: BLE001  # a template is a foreign program: it may raise anything
        return []
    parts = [part for part in _MARKER.split(text) if part]
    return parts if all(parts.count(marker) == 1 for marker in markers) else []


class _Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, without sums that take all memory: no powers, no multiplied texts."""

    intercepted_binops = frozenset(["*", "**"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or not all(isinstance(one, (int, float)) for one in (left, right)):
            raise jinja2.TemplateError("a template needs no such sum")
        return super().call_binop(context, operator, left, right)


@lru_cache(maxsize=8)
def _compiled(template: str) -> jinja2.Template:
    environment = _Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = _TODAY.strftime
    return environment.from_string(template)


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _to_json(value: Any, indent: int | None = None) -> str:
    """Unlike Jinja's own filter it does not escape for HTML; templates expect that."""
    return json.dumps(value, ensure_ascii=False, indent=indent)
