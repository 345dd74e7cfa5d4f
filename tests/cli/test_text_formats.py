"""One file of each text-like format, from the folder to the citation; some under wrong names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .citing import cited, first, index_once
from .harness import invoke

MAIL = (
    "Return-Path: <ada@x.org>\nFrom: Ada <ada@x.org>\nTo: Bo <bo@x.org>\nSubject: The anchor chain\n"
    "Date: Mon, 1 Jan 2024 00:00:00 +0000\n\nThe anchor chain was galvanised in Bergen.\n\n"
    "Bo wrote:\n> The capstan is driven by\n> two oxen on Sundays.\n"
)
MBOX = (
    "From ada@x.org Mon Jan  1 00:00:00 2024\nFrom: ada@x.org\nSubject: Tar\n\nTar arrives in barrels.\n\n"
    "From bo@x.org Mon Jan  1 00:00:00 2024\nFrom: bo@x.org\nSubject: Sails\n\nThe sails are sewn from hemp.\n"
)
NOTEBOOK = {
    "nbformat": 4,
    "metadata": {},
    "cells": [
        {
            "cell_type": "markdown",
            "source": ["# Tides\n", "\n", "The neap tide is lowest in March."],
        },
        {
            "cell_type": "code",
            "source": "moon = phase()",
            "outputs": [{"output_type": "stream", "text": "a crescent moon rises\n"}],
        },
    ],
}
BIRDS = [{"name": f"kind {number}", "diet": "worms"} for number in range(60)]
FILES: dict[str, str] = {
    "guide.rst": "=====\nGuide\n=====\n\n.. note:: Windmills grind\n   barley at night.\n",
    "diary.org": "#+TITLE: Diary\n* Monday\nThe heron nested\nbehind the chapel.\n",
    "paper.txt": "\\documentclass{article}\n\\title{Bees}\n\\begin{document}\n% a note\nBees of K\\\"oln\n"
    "\\textbf{dance} for\n% another\n\\emph{nectar} \\cite{b}.\n\\end{document}\n",
    "ferry.8": ".TH FERRY 8\n.SH NAME\nferry \\- cross a river\n.SH OPTIONS\n.TP\n.B \\-t\nCarry\n.I tortoises\nonly.\n",
    "letter.txt": MAIL,
    "inbox": MBOX,
    "notebook.json": json.dumps(NOTEBOOK, indent=1),
    "lamps.json": '{\n  "lamps": {\n    "oil": "whale blubber",\n    "wick": "woven cotton"\n  }\n}\n',
    "small.json": json.dumps({"birds": [*BIRDS, {"name": "puffin", "diet": "sand eels"}]}),
    "log.jsonl": '{"day": 1, "seen": "a white fox"}\n{"day": 2, "seen": "an old walrus"}\n',
    "forge.py": 'class Forge:\n    """Iron work."""\n\n    def temper(self, blade):\n        """Quench the sword in\n        rapeseed oil."""\n        return blade\n',
    "film.srt": "1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n2\n00:12:30,000 --> 00:12:35,000\nThe lighthouse\nkeeper vanished.\n",
    "page.txt": "<!DOCTYPE html><title>P</title><p>The mermaid combs her hair.</p>",
    "package-lock.json": "{}",
}  # fmt: skip


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory, bundled_encoder_dir: Path) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "old.txt").write_bytes(
        "Der Küster läutet die große Glocke für die Fischer.".encode("cp1252")
    )
    return folder


@pytest.fixture
def inside(texts: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(texts)
    index_once(
        f"{len(FILES) + 1} files: {len(FILES)} indexed, 0 unchanged, 1 skipped",
        "package-lock.json: generated (lock file)",
    )
    return texts


@pytest.mark.model
@pytest.mark.parametrize(
    ("query", "path", "kind", "line", "place", "text"),
    [
        ("windmills barley", "guide.rst", "rst", 5, None, "Windmills grind\n   barley at night."),
        ("where did the heron nest", "diary.org", "org", 3, None, "The heron nested\nbehind the chapel."),
        ("bees dance", "paper.txt", "latex", 5, None, "Bees of Köln\ndance for\n\u2060\nnectar [b]."),
        ("carry tortoises", "ferry.8", "man", 7, None, "-t: Carry\ntortoises\nonly."),
        ("anchor chain galvanised", "letter.txt", "mail", None, None, "The anchor chain was galvanised in Bergen."),
        ("capstan oxen", "letter.txt", "mail", None, "quoted", "> The capstan is driven by\ntwo oxen on Sundays."),
        ("sails sewn from hemp", "inbox", "mbox", None, "message 2: Sails", "The sails are sewn from hemp."),
        ("neap tide", "notebook.json", "notebook", None, "cell 1", "The neap tide is lowest in March."),
        ("crescent moon rises", "notebook.json", "notebook", None, "cell 2, output", "a crescent moon rises"),
        ("oil of the lamps whale blubber", "lamps.json", "json", 3, None, '"oil": "whale blubber",'),
        ("the diet of sand eels", "small.json", "json", None, "birds[60]", "birds[60].diet: sand eels"),
        ("walrus", "log.jsonl", "jsonl", 2, None, "day: 2 | seen: an old walrus"),
        ("quench the sword", "forge.py", "code", 5, None, "Quench the sword in\n        rapeseed oil."),
        ("lighthouse keeper", "film.srt", "subtitles", None, "00:12:30", "The lighthouse keeper vanished."),
        ("mermaid hair", "page.txt", "html", None, None, "The mermaid combs her hair."),
        ("Küster Glocke", "old.txt", "text", 1, None, "Der Küster läutet die große Glocke für die Fischer."),
    ],
)  # fmt: skip
def test_each_format_is_found_and_cited_with_its_place(
    inside: Path, query: str, path: str, kind: str, line: int | None, place: str | None, text: str
) -> None:
    best = cited(query, path, kind, place)
    assert best["text"] == text
    assert line is None or best["line"] == line


@pytest.mark.model
def test_a_definition_is_named_by_its_path(inside: Path) -> None:
    assert first("quench the sword")["heading"] == "Forge"  # short methods share a passage
    assert first("oil of the lamps whale blubber")["heading"] == "lamps"


@pytest.mark.model
def test_what_was_unsure_or_left_out_is_listed(inside: Path) -> None:
    files = {
        one["relative"]: one
        for one in invoke("status", "--files", "--json").json("status@1")["files"]
    }
    assert "encoding guessed: cp1252" in str(files["old.txt"])
    assert files["package-lock.json"]["status"] == "skipped"
