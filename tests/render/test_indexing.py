import io
from pathlib import Path

from ragcli import events as ev
from ragcli.render.indexing import Bar, Report, follow, print_summary
from ragcli.render.terminal import Printer
from ragcli.types import FileStatus

EVENTS = [
    ev.Scanned(26, 26, 1000),
    *(
        ev.FileDone(Path(f"/d/{n:02}.md"), FileStatus.INDEXED, size=10, passages=1)
        for n in range(3)
    ),
    ev.FileDone(Path("/d/half.pdf"), FileStatus.PARTIAL, "no text on pages 2, 4", 10, 1),
    ev.FileDone(Path("/d/[b].pdf"), FileStatus.FAILED, "not a PDF\x1b[2J", 10),
    ev.FileDone(Path("/d/a.png"), FileStatus.SKIPPED, "binary", 10),
    ev.FileDone(Path("/d/b.png"), FileStatus.SKIPPED, "binary", 10),
    ev.Progress("embed", 4, 4),
    ev.Indexed(26, 4, 1, 19, 2, 1, 1, 0, 23, 2, 0.51, ("mostly German",)),
]


def summary(verbose=False):
    out = io.StringIO()
    print_summary(Printer(out), follow(iter(EVENTS), None), Path("/d/.ragcli"), verbose=verbose)
    return out.getvalue()


def test_summary():
    assert summary() == (
        "26 files: 4 indexed, 19 unchanged, 2 skipped, 1 failed\n"
        "  failed   /d/[b].pdf: not a PDF[2J\n"
        "  partial  /d/half.pdf: no text on pages 2, 4\n"
        "  skipped  2 files: binary\n"
        "  1 removed, 0 moved\n"
        "  note: mostly German\n"
        "23 passages in /d/.ragcli (generation 2), 0.5 s\n"
    )


def test_verbose_names_every_file():
    text = summary(verbose=True)
    assert all(f"/d/{name}" in text for name in ("00.md", "02.md", "half.pdf", "a.png", "b.png"))


def test_nothing_to_say_without_a_summary():
    out = io.StringIO()
    print_summary(Printer(out), Report(), Path("/d"), verbose=True)
    assert out.getvalue() == ""


def test_many_failures_are_cut_unless_verbose():
    report = Report()
    for n in range(25):
        report.take(ev.FileDone(Path(f"/d/{n:02}.pdf"), FileStatus.FAILED, "broken"))
    report.take(ev.Indexed(25, 0, 0, 0, 0, 25, 0, 0, 0, 1, 0.1))
    out = io.StringIO()
    print_summary(Printer(out), report, Path("/d"), verbose=False)
    assert "5 more" in out.getvalue()
    assert "24.pdf" not in out.getvalue()


def test_the_bar_draws_on_its_stream_and_leaves_nothing_behind():
    out = io.StringIO()
    with Bar(out, colorless=True, width=80) as bar:
        follow(iter(EVENTS), bar)
        bar._progress.refresh()
        assert "read" in out.getvalue()
        assert "26/26" not in out.getvalue()
    assert out.getvalue().endswith("\x1b[1A\x1b[2K")
