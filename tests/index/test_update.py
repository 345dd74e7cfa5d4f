"""What an update reads, keeps, drops and counts."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from ragcli.errors import IndexMissing, UsageError
from ragcli.events import FileDone, Indexed, Progress, Scanned
from ragcli.index.update import forget
from ragcli.types import FileStatus, SearchMode

from .conftest import Bench

NOTES = {
    "copper.md": "# Copper\n\nThe copper store is in the north wing.",
    "iron.txt": "The iron door has code 4711.\n\nIt is painted green.",
    "sub/tin.md": "# Tin\n\n## Where\n\nTin is kept in the cellar.\n\n## Who\n\nOnly Ada has a key.",
}


@pytest.fixture
def filled(bench: Bench) -> Bench:
    for name, text in NOTES.items():
        bench.write(name, text)
    bench.update()
    bench.encoder.calls = 0
    bench.encoder.encoded.clear()
    return bench


def test_events_of_a_first_run(bench: Bench) -> None:
    bench.write("a.md", "Alpha is first.")
    bench.write("empty.txt", "")
    (bench.docs / "program").write_bytes(b"\x7fELF\x00\x00\x01" * 40)
    events = bench.events()
    assert isinstance(events[0], Scanned)
    assert (events[0].found, events[0].to_read) == (3, 3)
    done = {e.path.name: e.status for e in events if isinstance(e, FileDone)}
    assert done == {"a.md": "indexed", "empty.txt": "skipped", "program": "skipped"}
    assert all(e.reason for e in events if isinstance(e, FileDone) and e.status == "skipped")
    progress = [e for e in events if isinstance(e, Progress)]
    assert (progress[-1].done, progress[-1].total) == (3, 3)
    assert isinstance(events[-1], Indexed)
    assert (events[-1].indexed, events[-1].skipped, events[-1].generation) == (1, 2, 1)


def test_nothing_changed(filled: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_workers(*_: object, **__: object) -> None:
        raise AssertionError("a worker was started")

    monkeypatch.setattr("ragcli.index.run.Extractor", no_workers)
    summary = filled.update()
    assert (summary.unchanged, summary.indexed, summary.generation) == (3, 0, 1)
    assert filled.encoder.calls == 0


def test_a_bad_file_is_counted_and_not_tried_again(filled: Bench) -> None:
    filled.write("empty.txt", "")
    assert filled.update().skipped == 1
    events = filled.events()
    assert events[0] == Scanned(4, 0, 0)
    assert [e.reason for e in events if isinstance(e, FileDone)] == ["empty"]
    assert isinstance(events[-1], Indexed)
    assert (events[-1].skipped, events[-1].unchanged) == (1, 3)


def test_an_edited_file_leaves_no_trace_of_its_old_text(filled: Bench) -> None:
    filled.write("iron.txt", "The iron door has code 9999.\n\nIt is painted green.")
    assert filled.update().indexed == 1
    for mode in SearchMode:
        with filled.open() as reader:
            texts = [hit.passage.text for hit in reader.search("code 4711", k=10, mode=mode)]
        assert not [text for text in texts if "4711" in text]
    with filled.open() as reader:
        document = reader.document_at(filled.docs / "iron.txt")
        assert document is not None
        assert "9999" in reader.text(document.id)


def test_an_edit_that_keeps_size_and_time_is_seen(filled: Bench) -> None:
    file = filled.docs / "iron.txt"
    before = file.stat()
    file.write_text(file.read_text().replace("4711", "0815"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert filled.update().indexed == 1
    with filled.open() as reader:
        assert "0815" in reader.search("iron door code", k=1)[0].passage.text


def test_a_touched_file_is_not_embedded_again(filled: Bench) -> None:
    os.utime(filled.docs / "iron.txt")
    summary = filled.update()
    assert (summary.unchanged, summary.indexed) == (3, 0)
    assert filled.encoder.calls == 0
    assert filled.update().unchanged == 3


def test_only_changed_passages_are_embedded(bench: Bench) -> None:
    sections = [f"# Part {n}\n\n" + f"Sentence about topic{n} here. " * 12 for n in range(6)]
    bench.write("long.md", "\n\n".join(sections))
    first = bench.update()
    assert first.passages >= 6
    bench.encoder.encoded.clear()
    sections[3] = sections[3].replace("topic3", "other")
    bench.write("long.md", "\n\n".join(sections))
    bench.update()
    assert bench.encoder.encoded
    assert all("other" in text or "Part 3" in text for text in bench.encoder.encoded)


def test_a_moved_file_costs_no_embedding(filled: Bench) -> None:
    (filled.docs / "new").mkdir()
    (filled.docs / "iron.txt").rename(filled.docs / "new" / "iron.txt")
    summary = filled.update()
    assert (summary.moved, summary.removed, summary.indexed) == (1, 0, 1)
    assert filled.encoder.encoded == []
    assert filled.found("iron door")[0] == "new/iron.txt"


def test_duplicates_are_embedded_once(bench: Bench) -> None:
    for name in ("a.md", "b.md", "c.md"):
        bench.write(name, "The same text in three files.")
    bench.update()
    assert len(bench.encoder.encoded) == 1
    assert bench.found("same text", mode=SearchMode.DENSE) == ["a.md", "b.md", "c.md"]


def test_a_deleted_file_disappears(filled: Bench) -> None:
    (filled.docs / "copper.md").unlink()
    summary = filled.update()
    assert (summary.removed, summary.found) == (1, 2)
    assert "copper.md" not in filled.found("copper store")
    with filled.open() as reader:
        assert reader.document_at(filled.docs / "copper.md") is None
        assert reader.status().vectors == reader.status().passages


def test_a_deleted_folder_given_by_name_disappears(filled: Bench) -> None:
    shutil.rmtree(filled.docs / "sub")
    assert filled.update(filled.docs / "sub").removed == 1
    assert filled.names() == ["copper.md", "iron.txt"]


def test_a_path_that_never_was(filled: Bench) -> None:
    with pytest.raises(UsageError, match="no such file"):
        filled.update(filled.docs / "nowhere")


def test_other_roots_are_left_alone(filled: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "lead.md").write_text("Lead is heavy.")
    assert filled.update(other).found == 1
    assert filled.names() == sorted([*NOTES, "lead.md"])
    (other / "lead.md").unlink()
    assert filled.update().removed == 0
    assert filled.update(other).removed == 1


def test_a_part_of_an_indexed_folder(filled: Bench) -> None:
    assert filled.update(filled.docs / "sub").unchanged == 1
    filled.write("sub/new.md", "Zinc is new.")
    assert filled.update(filled.docs / "sub" / "new.md").indexed == 1
    assert filled.found("zinc")[0] == "sub/new.md"
    assert filled.update().unchanged == 4
    with filled.open() as reader:
        assert reader.status().roots == (filled.docs.resolve(),)


def test_a_folder_around_an_indexed_folder(filled: Bench, tmp_path: Path) -> None:
    before = {(row[1], row[5]) for row in filled.everything()}
    summary = filled.update(tmp_path)
    assert (summary.unchanged, summary.indexed) == (3, 0)
    assert {(row[1], row[5]) for row in filled.everything()} == before
    assert filled.found("iron door")[0] == "docs/iron.txt"
    assert filled.update().unchanged == 3


def test_the_same_folder_by_another_name(filled: Bench, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(filled.docs)
    assert filled.update(tmp_path / "link").unchanged == 3
    assert filled.update(filled.docs, filled.docs / "sub", filled.docs / "iron.txt").found == 3


def test_a_project_can_be_moved(filled: Bench, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.move(filled.docs, moved / "docs")
    shutil.move(filled.index_dir, moved / ".ragcli")
    filled.docs, filled.index_dir = moved / "docs", moved / ".ragcli"
    with filled.open() as reader:
        (hit, *_) = reader.search("iron door", k=1)
        assert hit.document.path.read_text() == NOTES["iron.txt"]
        assert reader.stale([hit.document]) == ()
    assert filled.update().unchanged == 3


def test_rebuild_reads_everything_again(filled: Bench, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "lead.md").write_text("Lead is heavy.")
    filled.update(other)
    before = filled.everything()
    assert filled.update(rebuild=True).indexed == 4
    assert filled.everything() == before


def test_what_cannot_be_read_any_more_is_not_served(filled: Bench) -> None:
    (filled.docs / "iron.txt").write_bytes(b"\x7fELF\x00\x00\x01" * 40)
    assert filled.update().skipped == 1
    assert "iron.txt" not in filled.found("iron door code")
    with filled.open() as reader:
        (record,) = [f for f in reader.files() if f.relative == "iron.txt"]
    assert (record.status, record.document) == (FileStatus.SKIPPED, None)


def test_file_names_of_all_kinds(bench: Bench) -> None:
    names = [b"my_file.md", b"my-file.md", b"my file.md", b"caf\xe9.md", b"a\nb.md", b"-rf.md",
             "\U0001f600.md".encode(), b"[x].md", b"*.md", b"'\".md"]  # fmt: skip
    for number, name in enumerate(names):
        bench.write(os.fsdecode(name), f"The secret of number{number} is here.")
    assert bench.update().indexed == len(names)
    for number, name in enumerate(names):
        with bench.open() as reader:
            hit = reader.search(f"number{number}", k=1, mode=SearchMode.LEXICAL)[0]
            assert os.fsencode(hit.document.path.name) == name
            assert hit.document.path.exists()
            assert reader.document_at(hit.document.path) == hit.document
    assert bench.update().unchanged == len(names)


def test_composed_and_decomposed_letters_meet(bench: Bench) -> None:
    bench.write("a.md", "Das Pr\u00fcfst\u00fcck ist neun Meter lang und liegt in der K\u00fcche.")
    bench.write("b.md", "Das Pru\u0308fstu\u0308ck liegt seit gestern in der Halle und ist rot.")
    bench.update()
    for query in ("Pr\u00fcfst\u00fcck", "Pru\u0308fstu\u0308ck"):
        assert set(bench.found(query, mode=SearchMode.LEXICAL)) == {"a.md", "b.md"}


def test_forget_a_file_and_a_folder(filled: Bench) -> None:
    (summary,) = forget(filled.index_dir, filled.docs / "iron.txt")
    assert isinstance(summary, Indexed)
    assert summary.removed == 1
    (filled.docs / "sub" / "tin.md").unlink()
    shutil.rmtree(filled.docs / "sub")
    (summary,) = forget(filled.index_dir, filled.docs / "sub")
    assert isinstance(summary, Indexed)
    assert (summary.removed, summary.passages) == (1, 1)
    assert filled.found("iron door") == ["copper.md"]
    left = b"".join(f.read_bytes() for f in filled.index_dir.rglob("*") if f.is_file())
    assert b"iron" not in left
    assert b"cellar" not in left


def test_forget_what_is_not_there(filled: Bench) -> None:
    with pytest.raises(UsageError, match="holds nothing of"):
        list(forget(filled.index_dir, filled.docs / "nowhere"))
    with pytest.raises(IndexMissing):
        list(forget(filled.docs / ".ragcli", filled.docs))


def test_an_empty_folder(bench: Bench) -> None:
    assert bench.update().found == 0
    assert bench.found("anything") == []
    assert bench.encoder.calls == 0


def test_the_index_is_for_the_user_alone(filled: Bench) -> None:
    assert stat.S_IMODE(filled.index_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((filled.index_dir / "catalog.sqlite").stat().st_mode) == 0o600
    assert stat.S_IMODE((filled.index_dir / "generations").stat().st_mode) == 0o700
    assert (filled.index_dir / ".gitignore").read_text() == "*\n"


def test_sources_are_not_written(filled: Bench) -> None:
    before = {f: (f.read_bytes(), f.stat().st_mtime_ns) for f in filled.docs.rglob("*.*")}
    filled.update(rebuild=True)
    assert {f: (f.read_bytes(), f.stat().st_mtime_ns) for f in filled.docs.rglob("*.*")} == before


def test_a_foreign_language_is_said(bench: Bench) -> None:
    bench.write("de.txt", "Der Schlüssel liegt unter der Matte und das Haus ist nicht sehr alt.")
    assert bench.update().warnings
    assert "de 1" in bench.update().warnings[0]
    for n in range(8):
        bench.write(f"{n}.txt", "The key is under the mat and the house is not very old.")
    assert bench.update().warnings == ()


def test_many_small_commits_give_the_same_index(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(30):
        bench.write(f"{n:02}.md", f"# Note {n}\n\nNumber {n} speaks of topic{n % 5} and more.")
    bench.update()
    once = bench.everything()
    hits = bench.found("topic3 number")
    shutil.rmtree(bench.index_dir)
    monkeypatch.setattr("ragcli.index.run.BATCH_PASSAGES", 4)
    monkeypatch.setattr("ragcli.index.run.COMMIT_EVERY_S", 0.0)
    monkeypatch.setattr("ragcli.index.run.COMMIT_SHARE", 0)
    assert bench.update().generation > 3
    assert bench.everything() == once
    assert bench.found("topic3 number") == hits
    generations = {p.name for p in (bench.index_dir / "generations").iterdir()}
    assert len(generations) == 2
