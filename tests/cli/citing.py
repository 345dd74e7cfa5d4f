"""Searches in the working directory: what is found first, and how it is cited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .harness import invoke


def index_once(*said: str) -> None:
    """Indexes the working directory where it has no index yet, and looks at what is said."""
    if not Path(".ragcli").exists():
        result = invoke("index", ".", "-v")
        assert result.code == 0, result.err
        for line in said:
            assert line in result.out


def first(query: str) -> dict[str, Any]:
    hit: dict[str, Any] = invoke("search", query, "-k", "1", "--json").json("search@1")["hits"][0]
    return hit


def cited(query: str, path: str, kind: str, place: str | None) -> dict[str, Any]:
    """The best sentence of the first hit, which must be of this file and place, in print too."""
    hit = first(query)
    best: dict[str, Any] = hit["best_sentence"]
    assert (hit["relative"], hit["type"], best["place"]) == (path, kind, place)
    shown = invoke("search", query, "-k", "1").out
    where = f"{path} p.{best['page']}" if best["page"] else f"{path}:{best['line']}"
    assert shown.startswith(f"{where} ({place}): " if place else f"{where}: ")
    assert "\u2060" not in shown
    return best
