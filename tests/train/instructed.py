"""A made task for analyzers: a passage is relevant to a thing if it speaks of that thing."""

from __future__ import annotations

import json
from pathlib import Path

THINGS = ("ferry", "lighthouse", "mill", "bridge", "tower", "harbour", "school", "market")
NAMES = ("Omm", "Ribe", "Sandholm", "Varde")


def lines() -> list[dict]:
    """Questions with their components, and two passages each: one speaks of the thing."""
    found: list[dict] = []
    for at, thing in enumerate(THINGS):
        name = NAMES[at % len(NAMES)]
        question = f"When did the {thing} of {name} open?"
        parts = [(name, "invariant"), (thing, "variant"), ("date", "supplementary")]
        components = [{"text": text, "attribute": kind} for text, kind in parts]
        found.append({"question": question, "components": components})
        for other, score in ((thing, 1), (THINGS[at - 3], 0)):
            scored = [
                components[0],
                {**components[1], "relevant": score},
                {**components[2], "relevant": 0.4},
            ]
            passage = f"The {other} of {name} is old."
            found.append({"question": question, "passage": passage, "components": scored})
    return found


def write(file: Path, rows: list[dict] | None = None) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows or lines()))
    return file
