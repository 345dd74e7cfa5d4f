"""Real text, the real encoder, real workers: spans resolve and questions find their passage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragcli.encoders import open_encoder, resolve_encoder
from ragcli.events import Indexed
from ragcli.index.reader import Reader
from ragcli.index.update import update

pytestmark = [pytest.mark.model, pytest.mark.slow]

DOCUMENTS, QUESTIONS = 60, 60


def rows(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.fixture
def reader(
    shared_data: Path, bundled_encoder_dir: Path, tmp_path: Path, real_workers: None
) -> Reader:
    docs = tmp_path / "docs"
    docs.mkdir()
    for row in rows(shared_data / "corpus" / "xquad_en.jsonl")[:DOCUMENTS]:
        title = str(row["title"]).replace("_", " ")
        (docs / f"{row['_id']}.md").write_text(f"# {title}\n\n{row['text']}\n", "utf-8")
    encoder = open_encoder(resolve_encoder(None))
    *_, last = update(tmp_path / ".ragcli", [docs], encoder=lambda: encoder, workers=2)
    assert isinstance(last, Indexed)
    assert last.indexed == DOCUMENTS
    return Reader.open(tmp_path / ".ragcli", lambda: encoder)


def test_spans_resolve_and_questions_find_their_passage(reader: Reader, shared_data: Path) -> None:
    with reader:
        for document in reader.documents():
            text, source = reader.text(document.id), document.path.read_text("utf-8")
            lines = source.splitlines()
            for sentence in reader.sentences(document.id):
                assert text[sentence.start : sentence.end] == sentence.text
                assert sentence.text.splitlines()[0] in lines[sentence.line - 1]
        asked = [
            row
            for row in rows(shared_data / "qa" / "xquad_en_dev.jsonl")
            if int(row["gold"][0]) < DOCUMENTS  # type: ignore[index]
        ][:QUESTIONS]
        found = 0
        for row in asked:
            hits = reader.search(str(row["question"]), k=5, score_sentences=False)
            found += row["gold"][0] in {Path(h.document.relative).stem for h in hits}  # type: ignore[index]
    assert len(asked) == QUESTIONS
    assert found / QUESTIONS >= 0.95
