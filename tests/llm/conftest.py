"""One generator for all tests of this folder (loading is cheap, but not free), and a hub.

One thread: two of them, on a machine that is busy, mostly wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from standin_hub import Hub, connected

from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator

from .pulling import REPOSITORIES


@pytest.fixture(scope="session")
def generator(bundled_model: Path) -> Iterator[LlamaGenerator]:
    with open_generator(bundled_model, threads=1) as opened:
        yield opened


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A stand-in hub, and a store of its own to pull into."""
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "cache"))
    with connected(REPOSITORIES, monkeypatch) as hub:
        yield hub
