"""Killed at any instant, a writer leaves the last commit; readers never see half a state."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from .conftest import Bench

WRITER = """
import sys
from pathlib import Path
from ragcli.index import run
from ragcli.index.update import update
from tests.index.conftest import InlineExtractor, WordsEncoder

run.Extractor = InlineExtractor
run.BATCH_PASSAGES, run.COMMIT_EVERY_S, run.COMMIT_SHARE = 8, 0.0, 0
encoder = WordsEncoder()
print("started", flush=True)
for event in update(Path(sys.argv[1]), [Path(sys.argv[2])], encoder=encoder):
    print(event, flush=True)
"""
ROOT = Path(__file__).resolve().parents[2]


def start(bench: Bench) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(bench.index_dir), str(bench.docs)],
        stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def fill(bench: Bench, count: int, version: int) -> None:
    for n in range(count):
        bench.write(f"{n:03}.md", f"# Note {n}\n\nVersion {version} of note {n}, topic{n % 7}.")


def check(bench: Bench) -> int:
    """A reader finds every document whole: text, passages and both retrievers agree."""
    with bench.open() as reader:
        documents = list(reader.documents())
        for document in documents:
            assert reader.passages(document.id)
        hits = reader.search("note version topic3", k=500, score_sentences=False)
        assert {hit.document.id for hit in hits} == {d.id for d in documents}
        return len(documents)


@pytest.mark.slow
def test_killed_at_random_and_run_again(bench: Bench, tmp_path: Path) -> None:
    chance = random.Random(7)
    killed = 0
    for attempt in range(8):
        fill(bench, 60, attempt)
        process = start(bench)
        time.sleep(chance.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        assert process.stdout is not None
        process.stdout.close()
        if (bench.index_dir / "generations").is_dir() and list(
            (bench.index_dir / "generations").glob("[0-9]*")
        ):
            check(bench)
    assert killed >= 4
    bench.update()
    clean = Bench(_folder(tmp_path / "clean"))
    fill(clean, 60, 7)
    clean.update()
    assert bench.everything() == clean.everything()
    for query in ("topic3", "version of note 12", "note"):
        with bench.open() as ours, clean.open() as theirs:
            found, expected = ours.search(query, k=20), theirs.search(query, k=20)
        assert [(h.document.relative, h.passage.text) for h in found] == [
            (h.document.relative, h.passage.text) for h in expected
        ]
        assert [h.score for h in found] == pytest.approx([h.score for h in expected])


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.slow
def test_readers_beside_a_writer(bench: Bench) -> None:
    fill(bench, 20, 0)
    bench.update()
    fill(bench, 120, 1)
    process = start(bench)
    counts = []
    while process.poll() is None:
        counts.append(check(bench))
    assert process.stdout is not None
    process.stdout.close()
    assert process.returncode == 0
    assert check(bench) == 120
    assert counts == sorted(counts)
    assert counts


def test_a_run_that_is_interrupted_keeps_what_was_committed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragcli.index.update import update

    monkeypatch.setattr("ragcli.index.run.BATCH_PASSAGES", 8)
    monkeypatch.setattr("ragcli.index.run.COMMIT_EVERY_S", 0.0)
    monkeypatch.setattr("ragcli.index.run.COMMIT_SHARE", 0)
    fill(bench, 40, 0)
    run = update(bench.index_dir, [bench.docs], encoder=bench.encoder)
    list(islice(run, 20))
    with pytest.raises(KeyboardInterrupt):
        run.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
    assert 0 < check(bench) < 40
    assert bench.update().indexed < 40
    assert check(bench) == 40


def test_ctrl_c_ends_the_workers(bench: Bench, real_workers: None) -> None:
    import psutil

    from ragcli.index.update import update

    fill(bench, 30, 0)
    before = {p.pid for p in psutil.Process().children(recursive=True)}
    run = update(bench.index_dir, [bench.docs], encoder=bench.encoder, workers=2)
    next(run)
    with pytest.raises(KeyboardInterrupt):
        run.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
    assert {p.pid for p in psutil.Process().children(recursive=True)} <= before
    assert bench.update(workers=2).indexed == 30


def test_closing_the_events_early_releases_the_lock(bench: Bench) -> None:
    from ragcli.index.update import update

    fill(bench, 3, 0)
    run = update(bench.index_dir, [bench.docs], encoder=bench.encoder)
    next(run)
    run.close()  # type: ignore[attr-defined]
    assert bench.update().indexed == 3
