"""A small set in the shape of HotpotQA: three questions with passages of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROWS: list[dict[str, Any]] = [
    {
        "id": "keeper",
        "question": "Who was the first keeper of the Sandholm light?",
        "answers": ["Mira Oskan"],
        "passages": [
            {
                "title": "Sandholm",
                "sentences": ["Mira Oskan was the first keeper of the Sandholm light.", "She kept bees."],
                "gold": [1, 0],
            },
            {
                "title": "Boiler",
                "sentences": ["The boiler pressure limit is 3 bar.", "It is drained in October."],
                "gold": [0, 0],
            },
        ],
    },
    {
        "id": "limit",
        "question": "What is the pressure limit of the boiler?",
        "answers": ["3 bar"],
        "passages": [
            {
                "title": "Boiler",
                "sentences": ["The boiler pressure limit is 3 bar.", "It is drained in October."],
                "gold": [1, 0],
            },
            {"title": "Valve", "sentences": ["The valve in room 20 is red."], "gold": [0]},
        ],
    },
    {
        "id": "valve",
        "question": "What colour is the valve in room 20?",
        "answers": ["red"],
        "passages": [
            {"title": "Valve", "sentences": ["The valve in room 20 is red."], "gold": [1]},
            {"title": "Bees & <bells>", "sentences": ["Bees\u00a0like bells.", "Bells ring."], "gold": [0, 0]},
        ],
    },
]  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
