"""JSON Schemas (2020-12) of everything `--json` and `--jsonl` print.

One file a document, named as its `schema` field without "ragcli/". Files refer to each
other; `load` gives one that stands alone.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def names() -> list[str]:
    """All schemas, `common@1` (shared pieces, no document) left out."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    found = sorted(name.removesuffix(".json") for name in files if name.endswith(".json"))
    return [name for name in found if name != "common@1"]


def load(name: str) -> dict[str, Any]:
    """The schema called `name` ("answer@1"), with those that it refers to inside it.

    Raises KeyError for a name that is none.
    """
    schema = _read(name)
    within = _referred(schema, {name})
    if within:
        schema = {**schema, "$defs": {**schema.get("$defs", {}), **within}}
    return schema


def _read(name: str) -> dict[str, Any]:
    file = resources.files(__name__).joinpath(f"{name}.json")
    if not file.is_file():
        raise KeyError(name)
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


def _referred(schema: object, seen: set[str]) -> dict[str, Any]:
    """The files that `schema` refers to, directly or not, by name; `seen` grows."""
    found: dict[str, Any] = {}
    for reference in _references(schema):
        name = reference.partition("#")[0]
        if name and name not in seen:
            seen.add(name)
            inner = _read(name)
            found |= {name: inner} | _referred(inner, seen)
    return found


def _references(node: object) -> list[str]:
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [one for value in node.values() for one in _references(value)]
    if isinstance(node, list):
        return [one for value in node for one in _references(value)]
    return []
