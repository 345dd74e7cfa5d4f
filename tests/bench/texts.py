"""Text of a given size to index: of a folder, of the corpora beside the checkout, or made up."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RAGCLI_DATA", ROOT.parent / "shared")) / "data" / "corpus"
MB = 1_000_000
LARGEST = 0.5  # MB of a file


def texts_of(folder: Path | None) -> Iterator[str]:
    """Texts of the files under a folder, in a fixed random order."""
    if folder is not None:
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        plain = [file for file in files if file.name.removesuffix(".gz").endswith(".txt")]
        chosen = plain or files
        random.Random(0).shuffle(chosen)
        for file in chosen:
            data = file.read_bytes()
            if file.suffix == ".gz":
                data = gzip.decompress(data)
            yield data.decode("utf-8", "replace")
    elif DATA.is_dir():
        rows = [json.loads(line) for file in sorted(DATA.glob("*.jsonl")) for line in file.open()]
        for start in range(0, len(rows), 20):
            yield "\n\n".join(row["text"] for row in rows[start : start + 20])
    else:
        yield from generated()


def generated(size: int = 2 * MB) -> Iterator[str]:
    """Words of a few thousand, in sentences and paragraphs."""
    chance = random.Random(0)
    letters = "abcdefghiklmnoprstuvw"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(4000)]
    made = 0
    while made < size:
        text = "\n\n".join(
            " ".join(
                " ".join(chance.choices(words, k=chance.randint(5, 25))).capitalize() + "."
                for _ in range(chance.randint(3, 8))
            )
            for _ in range(40)
        )
        made += len(text)
        yield text


def write_corpus(source: Path | None, target: Path, size: float) -> float:
    """Whole files until `size` MB are there; the MB written.

    Left out are files so large that one would be most of the sample, or its peak of memory.
    """
    target.mkdir(parents=True)
    largest = min(size / 4, LARGEST) * MB
    written = n = turn = 0
    while written < size * MB:
        before = written
        for text in texts_of(source):
            if len(text) > largest:
                continue
            varied = text.replace(" the ", f" the {turn} ") if turn else text
            (target / f"{n:05}.txt").write_text(varied, "utf-8")
            written, n = written + len(varied.encode()), n + 1
            if written >= size * MB:
                break
        if written == before:
            raise SystemExit(f"no file of at most {largest / MB:.2f} MB: ask for a larger sample")
        turn += 1
    return written / MB
