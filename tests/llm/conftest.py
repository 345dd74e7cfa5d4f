"""One generator for all tests of this folder: loading is cheap, but not free.

One thread: two of them, on a machine that is busy, mostly wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.llama import open_generator


@pytest.fixture(scope="session")
def generator(bundled_model: Path) -> Iterator[LlamaGenerator]:
    with open_generator(bundled_model, threads=1) as opened:
        yield opened
