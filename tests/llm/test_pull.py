"""`models pull` against a stand-in hub: whole, cut, damaged, taken up again, on a full disk."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from standin_hub import COMMIT, Hub

from ragcli.errors import ModelError, UsageError
from ragcli.llm import pull
from ragcli.llm.discover import discover, models_dir

from .pulling import MODEL, ONE, OTHER, REPOSITORIES, TARGET, discover_pulled, fetch, partials


def test_a_model_is_fetched_checked_and_found(hub: Hub) -> None:
    seen: list[int] = []
    model = fetch(seen=seen)
    assert model.path == models_dir() / TARGET
    assert model.path.read_bytes() == MODEL
    assert seen[0] == 0
    assert seen[-1] == len(MODEL)
    assert seen == sorted(seen)
    assert partials() == []
    assert [m.name for m in discover() if m.source == "pulled"] == ["one.Q4_K_M"]
    assert any(f"/resolve/{COMMIT}/" in path for path, _ in hub.requests)  # one commit throughout


def test_what_is_there_is_not_fetched_again(hub: Hub) -> None:
    fetch()
    sent = hub.sent
    assert fetch().path.read_bytes() == MODEL
    assert hub.sent == sent


def test_a_damaged_copy_is_fetched_again(hub: Hub) -> None:
    path = fetch().path
    path.write_bytes(b"GGUF" + bytes(len(MODEL) - 4))
    assert fetch().path.read_bytes() == MODEL


def test_a_second_run_continues_where_the_first_was_cut(hub: Hub) -> None:
    hub.cut_after = [100_000, 0]
    with pytest.raises(ModelError, match="cannot fetch") as failure:
        fetch()
    assert "continues" in failure.value.hint
    assert partials()[0].stat().st_size == 100_000
    assert discover_pulled() == []
    seen: list[int] = []
    assert fetch(seen=seen).path.read_bytes() == MODEL
    assert seen[0] == 100_000
    assert hub.requests[-1][1] == "bytes=100000-"
    assert hub.sent == len(MODEL)  # not a byte twice


def test_an_interrupted_pull_continues(hub: Hub) -> None:
    def interrupt(here: int, total: int) -> None:
        if here > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull.fetch(pull.plan(ONE), interrupt)
    kept = partials()[0].stat().st_size
    assert kept > 100_000
    assert fetch().path.read_bytes() == MODEL
    assert hub.requests[-1][1] == f"bytes={kept}-"


def test_one_run_takes_up_a_cut_connection(hub: Hub) -> None:
    hub.cut_after = [50_000, 0, 50_000, 0, 0]
    assert fetch(tries=2).path.read_bytes() == MODEL
    assert hub.sent == len(MODEL)


def test_a_busy_hub_is_asked_again(hub: Hub) -> None:
    hub.statuses = [503, 429]
    assert fetch(tries=2).path.read_bytes() == MODEL
    hub.repositories = {**REPOSITORIES, ONE: {"new.gguf": OTHER}}
    hub.statuses = [503, 503, 503]
    with pytest.raises(ModelError, match="busy"):
        fetch(tries=1)


def test_a_server_without_ranges_costs_a_new_start_only(hub: Hub) -> None:
    hub.cut_after, hub.ranges = [100_000], False
    assert fetch(tries=1).path.read_bytes() == MODEL
    assert hub.sent == len(MODEL) + 100_000


def test_a_partial_file_longer_than_the_file_is_dropped(hub: Hub) -> None:
    hub.cut_after = [10, 0]
    with pytest.raises(ModelError):
        fetch()
    partials()[0].write_bytes(bytes(len(MODEL) + 5))
    assert fetch(tries=1).path.read_bytes() == MODEL


def test_a_damaged_partial_file_ends_in_a_wrong_hash_and_then_well(hub: Hub) -> None:
    hub.cut_after = [1000, 0]
    with pytest.raises(ModelError):
        fetch()
    partials()[0].write_bytes(bytes(1000))
    with pytest.raises(ModelError, match="arrived damaged"):
        fetch()
    assert partials() == []
    assert fetch().path.read_bytes() == MODEL


def test_a_wrong_hash_removes_the_file(hub: Hub) -> None:
    hub.wrong_hash = True
    with pytest.raises(ModelError, match="SHA-256") as failure:
        fetch()
    assert "removed" in failure.value.hint
    assert list(models_dir().rglob("*.gguf")) + partials() == []


def test_the_hash_given_is_checked_before_and_after(hub: Hub) -> None:
    right = hashlib.sha256(MODEL).hexdigest()
    with pytest.raises(ModelError, match="not the one given"):
        fetch(sha256="1" * 64)
    assert hub.sent == 0
    hub.lfs = False  # the hub says nothing: only the file itself can tell
    with pytest.raises(ModelError, match="arrived damaged"):
        fetch(sha256="1" * 64)
    assert partials() == []
    assert fetch(sha256=right.upper()).path.read_bytes() == MODEL
    with pytest.raises(UsageError, match="64 hexadecimal"):
        fetch(sha256="abc")


def test_without_hash_and_size_the_gguf_itself_is_checked(hub: Hub) -> None:
    hub.lfs = False
    assert fetch().path.read_bytes() == MODEL
    with pytest.raises(ModelError, match="not a usable GGUF"):
        fetch("owner/fake")
    assert partials() == []


def test_a_server_cannot_send_more_than_it_announced(hub: Hub) -> None:
    hub.extra = b"more" * 1000
    with pytest.raises(ModelError, match="longer than the hub says"):
        fetch()
    assert all(part.stat().st_size <= len(MODEL) for part in partials())


def test_no_space_is_seen_before(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(ModelError, match=r"not enough space: 300\.\d kB needed, 1\.0 kB free"):
        fetch()
    assert hub.sent == 0


def test_a_disk_that_fills_up_keeps_what_arrived(hub: Hub, tmp_path: Path) -> None:
    """A real write failure: the process may not grow a file beyond 128 kiB."""
    script = """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (131072, 131072))
        from ragcli.errors import ModelError
        from ragcli.llm import pull
        try:
            pull.fetch(pull.plan("owner/one-GGUF"), lambda here, total: None)
        except ModelError as error:
            print(error.message, "|", error.hint)
    """
    environ = {**os.environ, "HF_HUB_OFFLINE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("no space left while writing"), done.stderr
    assert "continues where it stopped" in done.stdout
    [part] = partials()
    kept = part.stat().st_size
    assert 0 < kept <= 131072
    assert fetch().path.read_bytes() == MODEL
    assert hub.requests[-1][1] == f"bytes={kept}-"


def test_two_pulls_of_one_model(hub: Hub) -> None:
    from filelock import FileLock

    folder = (models_dir() / TARGET).parent
    folder.mkdir(parents=True)
    with FileLock(folder / ".lock"), pytest.raises(ModelError, match="another process"):
        fetch()


def test_a_store_that_cannot_be_written(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="cannot write") as failure:
        fetch()
    assert "RAGCLI_CACHE_DIR" in failure.value.hint
