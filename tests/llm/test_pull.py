"""`models pull` against a stand-in hub: whole, cut, wrong, full, absent."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from standin_hub import COMMIT, Hub, connected
from standin_models import gguf, write

from ragcli.errors import ModelError, UsageError
from ragcli.llm import pull
from ragcli.llm.discover import ModelRef, discover, models_dir

MODEL = gguf(weights=os.urandom(300_000))
OTHER = gguf(weights=os.urandom(1000), name="Other")
REPOSITORIES = {
    "owner/one-GGUF": {"README.md": b"hello", "one.Q4_K_M.gguf": MODEL},
    "owner/many-GGUF": {
        "many.Q4_K_M.gguf": MODEL,
        "many.Q8_0.gguf": OTHER,
        "mmproj-many.gguf": gguf("clip"),
    },
    "owner/split-GGUF": {
        "q8/big-00001-of-00002.gguf": MODEL,
        "q8/big-00002-of-00002.gguf": OTHER,
    },
    "owner/none": {"model.safetensors": b"0"},
    "owner/evil": {"../../evil.gguf": MODEL},
    "owner/fake": {"fake.gguf": b"<html>please log in</html>"},
}
ONE = "owner/one-GGUF"
TARGET = Path("owner/one-GGUF/one.Q4_K_M.gguf")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    with connected(REPOSITORIES, monkeypatch) as hub:
        yield hub


def fetch(
    spec: str = ONE, seen: list[int] | None = None, tries: int = 0, **options: str
) -> ModelRef:
    def progress(here: int, total: int) -> None:
        if seen is not None:
            seen.append(here)

    return pull.fetch(pull.plan(spec, **options), progress, waits=(0.0,) * tries)  # type: ignore[arg-type]


def partials() -> list[Path]:
    return sorted(models_dir().rglob("*.part"))


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


def discover_pulled() -> list[str]:
    return [model.name for model in discover() if model.source == "pulled"]


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


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("owner/unknown", ModelError, "unknown"),
        ("owner/none", ModelError, "no GGUF file in owner/none"),
        ("owner/evil", ModelError, "outside its folder"),
        ("not a repository", UsageError, "not a repository"),
        ("a/b/c/d", UsageError, "not a repository"),
        ("", UsageError, "not a repository"),
        ("owner/many-GGUF:q5", UsageError, "no file q5"),
    ],
)
def test_what_cannot_be_fetched(hub: Hub, spec: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as failure:
        fetch(spec)
    assert failure.value.hint  # type: ignore[attr-defined]
    assert hub.sent == 0


def test_an_unknown_revision(hub: Hub) -> None:
    with pytest.raises(ModelError, match="no such revision"):
        fetch(revision="nightly")
    assert fetch(revision="main").name == "one.Q4_K_M"


def test_a_file_that_vanished_from_the_hub(hub: Hub) -> None:
    planned = pull.plan(ONE)
    hub.repositories = {}
    with pytest.raises(ModelError, match=r"the hub has no owner/one-GGUF:one\.Q4_K_M\.gguf"):
        pull.fetch(planned, lambda here, total: None)


@pytest.mark.parametrize("status", [401, 403])
def test_a_closed_repository(hub: Hub, status: int) -> None:
    hub.statuses = [status]
    with pytest.raises(ModelError, match="does not give") as failure:
        fetch()
    assert "HF_TOKEN" in failure.value.hint


def test_one_of_several_models_must_be_chosen(hub: Hub) -> None:
    with pytest.raises(
        UsageError, match=r"several models: many\.Q4_K_M \(300\.\d kB\), many\.Q8_0"
    ):
        fetch("owner/many-GGUF")
    assert fetch("owner/many-GGUF:q8").path.read_bytes() == OTHER
    assert fetch("owner/many-GGUF", file="many.Q4_K_M.gguf").path.read_bytes() == MODEL
    with pytest.raises(UsageError, match="two files named"):
        fetch("owner/many-GGUF:q8", file="q4")


def test_a_split_model_comes_whole(hub: Hub) -> None:
    seen: list[int] = []
    model = fetch("owner/split-GGUF", seen=seen)
    assert model.name == "big"
    assert model.size == len(MODEL) + len(OTHER) == seen[-1]
    assert seen == sorted(seen)
    with pytest.raises(UsageError, match="one file"):
        fetch("owner/split-GGUF", sha256="1" * 64)


def test_an_unreachable_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(ModelError, match=r"cannot reach http://127\.0\.0\.1") as failure:
            fetch()
    assert "network" in failure.value.hint


@pytest.mark.parametrize("address", ["huggingface.co", "ftp://x", "http://", "http://x:99999999"])
def test_an_endpoint_that_is_no_address(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", address)
    with pytest.raises(UsageError, match="HF_ENDPOINT"):
        fetch()


def test_an_endpoint_that_is_no_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "listing", lambda repository: ["not", "a", "listing"])
    with pytest.raises(ModelError, match="does not answer as a hub"):
        fetch()


def test_a_hub_that_lies_about_hash_and_commit(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = hub.listing(ONE)

    def listing(repository: str) -> dict[str, object]:
        lies = {"sha256": "../../up", "size": "many", "pointerSize": 1}
        siblings = [{**file, "lfs": lies} for file in truth["siblings"]]
        return {**truth, "sha": "../../main", "siblings": siblings}

    monkeypatch.setattr(hub, "listing", listing)
    with pytest.raises(ModelError, match="the hub has no"):  # and nothing outside the store
        fetch()
    assert {path.parent for path in models_dir().rglob(".*.part")} <= {
        (models_dir() / TARGET).parent
    }


def test_offline_is_respected(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE"):
        fetch()
    assert hub.requests == []


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


def test_a_local_file_is_adopted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    source = write(tmp_path / "mine.gguf", OTHER)
    link = tmp_path / "link.gguf"
    link.symlink_to(source)
    assert pull.is_local(str(source))
    assert not pull.is_local(ONE)
    model = pull.adopt(link, sha256=hashlib.sha256(OTHER).hexdigest())
    assert model.path == models_dir() / "local/link.gguf"
    assert model.path.samefile(source)  # no second copy on the same disk
    assert not model.path.is_symlink()
    assert pull.adopt(link) == model
    source.unlink()
    assert model.path.read_bytes() == OTHER


def test_a_local_file_on_another_disk_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def another_disk(source: object, target: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "link", another_disk)
    source = write(tmp_path / "mine.gguf", OTHER)
    model = pull.adopt(source)
    assert model.path.read_bytes() == OTHER
    assert not model.path.samefile(source)
    assert partials() == []


@pytest.mark.parametrize(
    ("name", "data", "sha256", "error", "message"),
    [
        ("text.gguf", b"hello", "", ModelError, "not a usable GGUF"),
        ("big-00001-of-00002.gguf", OTHER, "", ModelError, "split model"),
        ("mine.gguf", OTHER, "1" * 64, ModelError, "another SHA-256"),
        ("mine.gguf", OTHER, "xyz", UsageError, "64 hexadecimal"),
    ],
)
def test_local_files_that_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, data: bytes, sha256: str,
    error: type[Exception], message: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(error, match=message):
        pull.adopt(write(tmp_path / name, data), sha256=sha256)
    with pytest.raises(ModelError, match="no such model file"):
        pull.adopt(tmp_path / "absent.gguf")
    assert list(models_dir().rglob("*.gguf")) == []
