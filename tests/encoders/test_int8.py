"""int8 vectors: near the exact ones, the same whatever else is encoded, never mixed with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragcli.encoders import Encoder, open_encoder, resolve_encoder
from ragcli.encoders.base import EXACT, INT8
from ragcli.encoders.cache import INT8_ENCODER, is_exported
from ragcli.errors import IndexUnusable
from ragcli.index.reader import Reader
from ragcli.index.update import update
from ragcli.index.versions import check_encoder, recorded_precision, versions
from ragcli.types import SearchMode

from .texts import TEXTS

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def int8(bundled_encoder_dir: Path) -> Encoder:
    return open_encoder(resolve_encoder(None, INT8), threads=1)


def test_vectors_are_near_the_exact_ones(int8: Encoder) -> None:
    exact = open_encoder(resolve_encoder(None)).encode(TEXTS)
    ours = int8.encode(TEXTS)
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)
    cosines = (exact * ours).sum(axis=1)
    assert cosines.min() > 0.95
    assert not np.allclose(exact, ours, atol=1e-4)  # it really is the other graph


@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_depends_on_its_text_alone(int8: Encoder, threads: int) -> None:
    """Bit for bit: an index that grew in steps equals one made at once."""
    encoder = open_encoder(resolve_encoder(None, INT8), threads=threads)
    together = encoder.encode(TEXTS)
    alone = np.concatenate([int8.encode([text]) for text in reversed(TEXTS)])[::-1]
    assert np.array_equal(together, alone)


def test_it_is_another_encoder_than_the_exact_one(int8: Encoder) -> None:
    exact = resolve_encoder(None)
    assert int8.identity == resolve_encoder(None, INT8).identity
    assert int8.identity.sha256 != exact.identity.sha256
    assert (int8.identity.precision, exact.identity.precision) == (INT8, EXACT)
    assert is_exported(int8.identity, INT8_ENCODER)


@pytest.mark.parametrize(("made", "asked"), [(EXACT, INT8), (INT8, EXACT)])
def test_the_two_are_not_mixed(bundled_encoder_dir: Path, made: str, asked: str) -> None:
    meta = versions(resolve_encoder(None, made).identity)
    check_encoder(meta, resolve_encoder(None, made).identity)
    with pytest.raises(IndexUnusable) as caught:
        check_encoder(meta, resolve_encoder(None, asked).identity)
    assert "int8" in caught.value.message
    assert f"--encoder-precision {made}" in caught.value.hint
    assert "--rebuild" in caught.value.hint


def test_an_index_says_its_precision(int8: Encoder, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "valve.txt").write_text("The valve is in the cellar.")
    (tmp_path / "docs" / "rome.txt").write_text("Rome was not built in a day.")
    index = tmp_path / ".ragcli"
    assert recorded_precision(index) == EXACT  # nothing there yet
    list(update(index, [tmp_path / "docs"], encoder=lambda: int8))
    assert recorded_precision(index) == INT8
    with Reader.open(index, lambda: int8) as reader:
        hit, *_ = reader.search("where is the tap", k=1, mode=SearchMode.DENSE)
    assert hit.document.relative == "valve.txt"
    exact = resolve_encoder(None)
    with pytest.raises(IndexUnusable, match="int8"):
        list(update(index, [tmp_path / "docs"], encoder=lambda: int8, identity=exact.identity))
    list(update(index, [tmp_path / "docs"], encoder=lambda: open_encoder(exact), rebuild=True))
    assert recorded_precision(index) == EXACT


@pytest.mark.parametrize("written", ["", "not a database", "SQLite format 3\0" + "x" * 200])
def test_a_damaged_index_counts_as_exact_until_it_is_opened(tmp_path: Path, written: str) -> None:
    (tmp_path / "catalog.sqlite").write_text(written)
    assert recorded_precision(tmp_path) == EXACT
