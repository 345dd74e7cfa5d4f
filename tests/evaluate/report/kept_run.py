"""A run in a folder, as `eval run` leaves it, with texts that would be markup if they could."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragcli.evaluate.store import Store

HOSTILE = (
    "<script>alert(1)</script><img src=https://evil.example/x onerror=alert(2)>"
    "</title></style>\" ' onmouseover=alert(3) {{ 7 * 7 }} {% raw %} javascript:alert(4)"
)
CONTROLS = "nul\0 esc\x1b[31m override\u202e lone\ud800"
ARMS = ("plain", "drag+select=fke", "<b>fke</b>")
QUESTIONS = ("one", "two", f"three {HOSTILE}")
TEXT = "Mira Oskan kept the light. She kept bees."
SCORES = (
    "em",
    "f1",
    "contains",
    "knowledge_f1",
    "citation_recall",
    "citation_precision",
    "seconds",
)


def place(start: int, end: int, **more: Any) -> dict[str, Any]:
    return {
        "path": f"/texts/{HOSTILE}.html", "relative": "a.html", "type": "html",
        "title": f"Sandholm {HOSTILE}", "sha256": "0" * 64, "page": None, "line": 7,
        "start": start, "end": end, "heading": HOSTILE, "text": TEXT[start:end], **more,
    }  # fmt: skip


def token(text: str, total: float | None = 0.01, alternative: str | None = None) -> dict[str, Any]:
    risk = {"lexical": 1.0, "attention": 0.5, "prediction": 0.25, "total": total}
    return {
        "token": 1, "text": text, "logprob": -1.0, "entropy": 1.0, "risk": risk,
        "calibrated": alternative is not None, "alternative": alternative, "attention": [],
    }  # fmt: skip


def answer(question: str) -> dict[str, Any]:
    """`Mira Oskan & <i>Jon</i>` with a risky, a very risky and a replaced token."""
    tokens = [
        token(" Mira", 0.1), token(" Oskan", 0.5), token(" &"), token(" <i>", 0.3, HOSTILE),
        token("Jon"), token("</i>"), token("\nand more"),
    ]  # fmt: skip
    text = "Mira Oskan & <i>Jon</i>"
    sentence = {
        "start": 0, "end": len(text), "text": text, "verdict": "partly",
        "citations": [place(0, 26, number=1, score=0.5, verdict="partly")],
        "false_quotations": [HOSTILE],
    }  # fmt: skip
    return {
        "schema": "ragcli/answer@1", "question": question, "answer": text, "abstained": False,
        "reason": "", "stop": "end", "sentences": [sentence], "tokens": tokens,
        "parameters": {"drag.delta": 0.09}, "hits": [place(0, len(TEXT), rank=1)],
        "selected": [place(0, 26, slot=0)], "warnings": [],
    }  # fmt: skip


def row(key: str, arm: str, question: str, value: float) -> dict[str, Any]:
    return {
        "key": key, "arm": arm, "question_id": question, "question": f"Who? {HOSTILE} {CONTROLS}",
        "answer": "Mira Oskan & <i>Jon</i>", "scores": dict.fromkeys(SCORES, value),
        "objection": HOSTILE, "stop": "length", "warnings": [HOSTILE], "timings": {"cite": 0.5},
        "counts": {"hits": 1, "shown": 1, "calibrated": 1},
        "selected": [["a.html", 0, 26]], "cited": [["a.html", 0, 26]],
        "gold": [["a.html", 0, 26], ["a.html", 27, 41], ["lost.html", 0, 9]],
        "by": HOSTILE, "verifier": "lexical", "model": "b179c9523d0e", "dataset": HOSTILE,
    }  # fmt: skip


def rows() -> list[dict[str, Any]]:
    return [
        row(f"k{q}{a}", arm, question, ((q + 2 * a) % 4) / 3)
        for q, question in enumerate(QUESTIONS)
        for a, arm in enumerate(ARMS)
    ]


def write(folder: Path, *, told: bool = True, answers: bool = True) -> Path:
    """told: with the record of what was run. answers: with the whole answers."""
    with Store(folder) as store:
        for one in rows():
            store.add(one, answer(one["question"]) if answers else None)
        if told:
            keys: dict[str, dict[str, str]] = {arm: {} for arm in ARMS}
            for one in rows():
                keys[one["arm"]][one["question_id"]] = one["key"]
            store.tell({"about": about(), "questions": [known(q) for q in QUESTIONS], "keys": keys})
    return folder


def about() -> dict[str, Any]:
    return {
        "dataset": {"name": HOSTILE, "questions": 3, "corpus": "0", "passages": 12},
        "model": {"name": HOSTILE, "sha256": "b179c9523d0e" + "0" * 52},
        "encoder": {"name": HOSTILE}, "verifier": "lexical", "premise": "sentence",
        "forced": True, "settings": ["answer.style=short", HOSTILE],
    }  # fmt: skip


def known(question: str) -> dict[str, Any]:
    return {
        "id": question, "text": "Who?", "answers": ["Mira Oskan", HOSTILE],
        "parts": [["first", "1st"], [HOSTILE]], "claims": ["She kept bees."], "reference": HOSTILE,
    }  # fmt: skip
