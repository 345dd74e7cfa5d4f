"""Awkward documents: scans, control characters, broken words, endless sentences, blobs; two
writers at once; memory. The inputs are made here."""

import base64
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.plain_pdf import pdf

from .harness import Result, invoke, process

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bundled_encoder_dir: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ask(question: str, *more: str) -> Result:
    """Source sentences are the answer: quick, and the same on each machine."""
    return invoke("ask", question, "--verbatim", *more)


def test_07_scans_are_named(folder: Path) -> None:
    (folder / "scan.pdf").write_bytes(pdf([], []))
    (folder / "half.pdf").write_bytes(
        pdf(["The patient sleeps well."], [], [], ["The window is open at night."])
    )
    (folder / "text.md").write_text("The valve in room 1 is opened by turning it 3 times.\n")
    result = invoke("index", ".")
    assert result.code == 5
    assert re.search(r"scan\.pdf.*no text layer", result.out + result.err)
    files = {
        Path(file["path"]).name: file
        for file in invoke("status", "--files", "--json").json("status@1")["files"]
    }
    assert files["scan.pdf"]["status"] == "failed"
    assert files["half.pdf"]["status"] == "partial"
    assert "no text on pages 2-3 of 4" in files["half.pdf"]["reason"]
    asked = ask("What is the patient's blood pressure in scan.pdf?", "--json")
    assert asked.code == 1
    assert asked.json("answer@1")["abstained"]
    hit = invoke("search", "window at night", "--json").json("search@1")["hits"][0]
    assert (Path(hit["path"]).name, hit["best_sentence"]["page"]) == ("half.pdf", 4)


def test_09_nul_and_control_characters(folder: Path) -> None:
    (folder / "nul.md").write_bytes(
        b"# Boiler\n\nThe boiler\0 pressure limit \x1b[31mis\x07 3 bar.\0\0\n"
    )
    assert invoke("index", ".").code == 0
    asked = ask("What is the boiler's pressure limit?")
    assert asked.code == 0
    assert "3 bar" in asked.out
    for shown in (asked, invoke("search", "boiler limit"), invoke("show", "nul.md")):
        assert not [c for c in shown.out if ord(c) < 32 and c not in "\n\t"]
    assert "\\u0000" not in ask("What is the boiler's pressure limit?", "--json").out


def test_11_words_broken_at_line_ends(folder: Path) -> None:
    broken = ["The heating sys-", "tem has power-", "ful pumps. It must be drain-", "ed in Octo-",
              "ber."]  # fmt: skip
    (folder / "mail.txt").write_text("\n".join(broken) + "\n")
    (folder / "paper.pdf").write_bytes(
        pdf(["The recorder follows the inter-", "preter and writes its capabili-", "ties down."])
    )
    assert invoke("index", ".").code == 0
    asked = invoke("ask", "When must the heating system be drained?", "--threads", "1")
    assert asked.code == 0
    assert "mail.txt:3  “It must be drained in October.”" in asked.out
    for query in ("interpreter", "capabilities", "powerful", "october"):
        assert invoke("search", query, "--mode", "lexical").code == 0, query


def test_13_sentences_without_end(folder: Path) -> None:
    (folder / "repeat.txt").write_text("The same sentence again and again. " * 8000)
    (folder / "hash.txt").write_text(
        "f.302205302116302163025003025139150030251391500302513915bd " * 200
    )
    (folder / "noend.log").write_text("\n".join(f"{i} ok" for i in range(2000)))
    (folder / "dots.txt").write_text(". " * 40_000 + "The end is here.")
    started = time.process_time()
    assert invoke("index", ".").code == 0
    assert time.process_time() - started < 60
    assert invoke("search", "1999 ok", "--mode", "lexical").out.startswith("noend.log")


def test_15_chunks_larger_than_the_model(folder: Path) -> None:
    blob = base64.b64encode(random.Random(1).randbytes(40_000)).decode()
    (folder / "blob.md").write_text(
        f"# Export\n\n{blob}\n\nThe export was made by the night shift.\n"
    )
    (folder / "longpara.md").write_text(
        "Filler words go on here. " * 200
        + "At the very end: the spare fuse is behind the mirror.\n"
    )
    (folder / "onejson.json").write_text(json.dumps([{"n": i, "v": "x" * 20} for i in range(300)]))
    assert invoke("index", ".").code == 0
    assert "behind the mirror" in ask("Where is the spare fuse?").out
    assert "night shift" in ask("Who made the export?").out
    for mode in ("dense", "hybrid"):
        found = invoke("search", "replacement fuse location", "--mode", mode, "--json")
        hits = found.json("search@1")["hits"]
        assert "spare fuse" in hits[0]["text"]
        assert not any(blob[:40] in hit["text"] for hit in hits)


SLOWLY = """
import time
from ragcli.index import run
run.BATCH_PASSAGES, run.COMMIT_EVERY_S, run.COMMIT_SHARE = 4, 0.0, 0
commit = run.Run._commit
def slow(self):
    commit(self)
    print("committed", flush=True)
    time.sleep(0.5)
run.Run._commit = slow
"""


def test_21_two_writers_a_reader_and_a_kill(folder: Path) -> None:
    for n in range(40):
        (folder / f"{n:02}.md").write_text(f"Item {n} lies in box {n + 3}.\n")
    code = f"{SLOWLY}\nfrom ragcli.__main__ import main\nmain()"
    first = subprocess.Popen(
        [sys.executable, "-c", code, "index", "."], cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert first.stdout is not None
    while "committed" not in (line := first.stdout.readline()):
        assert line, "the first writer ended early"
    second = invoke("index", ".", "--json")
    assert second.code == 3
    error = second.json("error@1")
    assert error["code"] == "index-locked"
    assert re.search(rf"process {first.pid} on .+, since \d{{4}}-", error["message"])
    assert invoke("search", "item").code == 0
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    first.stdout.close()
    assert invoke("search", "item").code == 0
    again = invoke("index", ".", "--json").json("index@1")
    assert again["found"] == 40
    assert again["unchanged"] > 0
    assert invoke("search", "item 39 box", "-k", "1").out.startswith("39.md")


# Indexes a folder with an encoder that costs nothing, and says its own and its reader's peak.
# Not getrusage: its peak starts with what the parent held.
PEAK = """
import sys
from pathlib import Path
import numpy as np
import psutil
from ragcli.encoders.base import EncoderIdentity
from ragcli.index.update import update

def high_water(pid="self"):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) >> 10

class Encoder:
    identity = EncoderIdentity("flat", "0" * 64, 64, 256, "en")
    def encode(self, texts):
        rows = np.random.default_rng(1).normal(size=(len(texts), 64))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)
    def count_tokens(self, texts):
        return [len(text) // 4 + 1 for text in texts]

readers = 0
for event in update(Path(sys.argv[1]), [Path(sys.argv[2])], encoder=Encoder):
    readers = max([readers, *(high_water(p.pid) for p in psutil.Process().children())])
print(high_water(), readers, event.passages, event.skipped)
"""


def peak(folder: Path, amount: int) -> list[int]:
    """(MiB of the indexer, MiB of a reader, passages, files skipped) for so much text."""
    docs = folder / f"docs{amount}"
    docs.mkdir()
    words = random.Random(amount)
    for n in range(amount * 6):
        lines = [
            " ".join(f"w{words.randrange(20_000)}" for _ in range(12)) + "." for _ in range(800)
        ]
        (docs / f"{n}.txt").write_text("\n".join(lines))
    with (docs / "sparse.txt").open("wb") as file:
        file.write(b"a sparse file\n" * 1000)
        file.truncate(2 << 30)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(folder / f"index{amount}"), str(docs)], cwd=ROOT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [int(number) for number in done.stdout.split()]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells a process's peak")
def test_23_memory_is_flat_and_a_sparse_file_stays_out(folder: Path) -> None:
    small, large = peak(folder, 1), peak(folder, 4)
    assert large[2] > 3 * small[2] > 900
    assert small[3] == large[3] == 1
    assert large[0] < small[0] + 60
    assert large[1] < small[1] + 20
    assert max(large[:2]) < 500


def test_nothing_is_written_beside_the_index(folder: Path) -> None:
    docs = folder / "docs"
    docs.mkdir()
    for name, data in {
        "a.md": b"# One\n\nA key.\n", "b.pdf": pdf(["A lock."]), "c.html": b"<p>A door.</p>",
        "broken.docx": b"PK\x03\x04", "d.csv": b"a,b\n1,2\n",
    }.items():  # fmt: skip
        (docs / name).write_bytes(data)
        (docs / name).chmod(0o640)
    home = folder / "home"
    temporary = folder / "temporary"
    for each in (home, temporary):
        each.mkdir()
    environ = {"HOME": str(home), "TMPDIR": str(temporary)}

    def seen() -> list[tuple[str, int, int, int, bytes]]:
        return [
            (str(path), info.st_mode, info.st_mtime_ns, info.st_ctime_ns,
             path.read_bytes() if path.is_file() else b"")
            for path in sorted(folder.rglob("*"))
            if ".ragcli" not in path.parts
            for info in [path.stat()]
        ]  # fmt: skip

    before = seen()
    for argv in (["index", "docs"], ["index", "--rebuild", "docs"], ["search", "key"]):
        assert process(argv, cwd=folder, environ=environ).code in (0, 5)
    assert seen() == before
    assert all(path.stat().st_mode & 0o077 == 0 for path in [folder / ".ragcli"])


def test_known_bad_files_are_not_tried_again(folder: Path) -> None:
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    (folder / "a.md").write_text("A key.\n")
    time.sleep(0.05)
    first = invoke("index", ".", "--json").json("index@1")
    assert (first["indexed"], first["failed"]) == (1, 1)
    trap = "import ragcli.sources.pool as p\ndef run(*a): raise AssertionError('read again')\n" \
           "p.Extractor.run = run"  # fmt: skip
    again = process(["index", ".", "--json"], cwd=folder, before=trap)
    assert (again.code, again.json("index@1")["failed"]) == (5, 1), again.err
    (listed,) = [
        file
        for file in invoke("status", "--files", "--json").json("status@1")["files"]
        if file["status"] == "failed"
    ]
    assert (Path(listed["path"]).name, listed["reason"]) == ("bad.pdf", "damaged PDF")
    assert process(["index", ".", "--rebuild"], cwd=folder, before=trap).code == 70
    (folder / "bad.pdf").write_bytes(pdf(["It is mended now."]))
    mended = invoke("index", ".", "--json").json("index@1")
    assert (mended["indexed"], mended["failed"]) == (1, 0)
    assert invoke("search", "mended").code == 0


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS refuses such names")
def test_a_folder_of_traps(folder: Path) -> None:
    docs = folder / "docs"
    outside = folder / "outside"
    for each in (docs / "sub", outside):
        each.mkdir(parents=True)
    (outside / "secret.md").write_text("The secret lies outside.\n")
    odd = [b"\xff.md", b"a\nb.md", b"\x1b[31mred.md", b"--rebuild", b" blank.md", b"y" * 255]
    for name in odd:
        Path(os.fsdecode(os.fsencode(docs) + b"/" + name)).write_text("A note with an odd name.\n")
    os.mkfifo(docs / "pipe.md")
    os.mkfifo(docs / "sub" / ".gitignore")
    (docs / "loop").symlink_to(docs)
    (docs / "way-out").symlink_to(outside)
    (docs / "zero.txt").symlink_to("/dev/zero")
    (docs / "bad.docx").write_bytes(b"PK\x03\x04\x00")
    (docs / "sub" / "last.md").write_text("The last note.\n")
    with (docs / "sparse.txt").open("wb") as file:
        file.write(b"text ")
        file.truncate(2 << 30)
    result = invoke("index", "docs", "--json")
    assert result.code == 5
    summary = result.json("index@1")
    assert (summary["indexed"], summary["skipped"], summary["failed"]) == (7, 2, 1)
    files = invoke("status", "--files", "--json").json("status@1")["files"]
    assert len(files) == 10
    told = {Path(file["path"]).name: file["reason"] for file in files if file["reason"]}
    assert told == {
        "pipe.md": "a FIFO, not a file",
        "bad.docx": "damaged DOCX (not a whole zip archive)",
        "sparse.txt": "larger than 64 MiB",
    }
    for command in (["index", "docs", "-v"], ["status", "--files"], ["search", "odd name"]):
        shown = invoke(*command)
        assert not [c for c in shown.out + shown.err if ord(c) < 32 and c not in "\n\t"], command
        assert "Traceback" not in shown.err
    assert "outside" not in invoke("search", "secret", "--mode", "lexical").out
    assert process([b"search", b"note", b"--in", b"docs/--rebuild"], cwd=folder).code in (0, 1)
    assert process(["index", "docs/--rebuild", "-q"], cwd=folder).code == 0
