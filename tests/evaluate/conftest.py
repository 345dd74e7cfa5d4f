"""The small set, indexed once with the bundled encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragcli.encoders import open_encoder, resolve_encoder
from ragcli.encoders.base import Encoder
from ragcli.evaluate.corpus import Corpus, build
from ragcli.evaluate.datasets import load

from .data import write


@pytest.fixture(scope="session")
def encoder(bundled_encoder_dir: Path) -> Callable[[], Encoder]:
    opened = open_encoder(resolve_encoder(None))
    return lambda: opened


@pytest.fixture(scope="session")
def small(
    tmp_path_factory: pytest.TempPathFactory, encoder: Callable[[], Encoder]
) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("small")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGCLI_CACHE_DIR", str(folder / "cache"))
        dataset = load(write(folder / "small.jsonl"))
        with build(dataset, encoder, encoder().identity) as corpus:
            yield corpus
