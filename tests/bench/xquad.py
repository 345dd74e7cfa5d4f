"""XQuAD as a folder of files and an index over it, for the benchmarks of answers."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ragcli.encoders import open_encoder, resolve_encoder
from ragcli.encoders.base import Encoder
from ragcli.index.reader import Reader
from ragcli.index.update import update

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("RAGCLI_DATA", ROOT.parent / "shared")) / "data"


@dataclass(frozen=True, slots=True)
class Item:
    """A question; the answer stands at `answer_start` of the file named `gold`."""

    question: str
    answers: tuple[str, ...]
    answer_start: int
    gold: str


def items(count: int, seed: int, skip: int = 0) -> list[Item]:
    """`count` questions in a seeded order, after the first `skip` of that order."""
    with (DATA / "qa" / "xquad_en_dev.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    random.Random(seed).shuffle(rows)
    return [
        Item(row["question"], tuple(row["answers"]), row["answer_start"], f"{row['gold'][0]}.txt")
        for row in rows[skip : skip + count]
    ]


def encoder() -> Callable[[], Encoder]:
    """The bundled encoder, opened once."""
    opened: list[Encoder] = []

    def get() -> Encoder:
        if not opened:
            opened.append(open_encoder(resolve_encoder(None)))
        return opened[0]

    return get


def write_corpus(folder: Path) -> None:
    """The corpus as files, one a paragraph, in a new folder."""
    folder.mkdir()
    with (DATA / "corpus" / "xquad_en.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            (folder / f"{row['_id']}.txt").write_text(row["text"], encoding="utf-8")


@contextmanager
def xquad_index() -> Iterator[Reader]:
    """An index over the corpus written out as files, in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        docs = Path(name, "docs")
        write_corpus(docs)
        index = Path(name, "index")
        for _ in update(index, [docs], encoder=encoder()):
            pass
        with Reader.open(index, encoder()) as reader:
            yield reader
