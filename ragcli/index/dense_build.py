"""Making the files of `dense_lists`.

Everything is done block by block over the mapped rows, so that memory does not grow with
the index; only the sample that the centroids are found on is held whole.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ragcli.index.dense_faiss import Codec, assign, cluster
from ragcli.index.dense_files import mapped, spans
from ragcli.index.dense_lists import CODES, ROWS, Head

SAMPLE = 40  # rows a centroid
# Chosen with tests/bench/scale.py. Twice as many lists as the root of the rows cost twice as
# much to make and find hardly more in the same time.
LISTS = 1.0  # by the root of the rows
PROBES = 192  # lists that a query scans at least
TRIALS, NEIGHBOURS, FOUND = 128, 10, 0.99  # rows, their nearest, the share to be found


@dataclass(frozen=True, slots=True)
class Trained:
    """What new rows are sorted by, and after how many rows it was found.

    centroids float32 (lists, dimension); ranges float32 (2, dimension).
    """

    centroids: NDArray[np.float32]
    ranges: NDArray[np.float32]
    probes: int
    rows: int


def build_lists(
    folder: Path,
    ids: NDArray[np.int64],
    dimension: int,
    blocks: Iterable[NDArray[np.float32]],
    *,
    trained: Trained | None = None,
    list_of: NDArray[np.int32] | None = None,
) -> int:
    """Writes both files and flushes them; returns their mark.

    ids: int64 (n,), ascending, n > 0. blocks: their vectors, float32, in that order.
    trained: sorts by these centroids instead of finding new ones. list_of: the lists of
    rows that are known for those, int32 (n,), -1 for the others.
    """
    with (folder / ROWS).open("x+b") as out:
        lists = len(trained.centroids) if trained else _list_count(len(ids))
        place = Head(dimension, lists, len(ids), 1, 1, 1).sections[3]
        out.seek(place)
        for block in blocks:
            out.write(block.astype("<f2").tobytes())
        out.flush()
        rows: NDArray[np.float16] = mapped(out, "<f2", place, (len(ids), dimension))
        if trained is None:
            trained, list_of = train(rows, lists), None
        numbers = _assign(rows, trained, list_of)
        sizes = np.bincount(numbers, minlength=lists)
        mark = _mark(ids, trained)
        head = Head(dimension, lists, len(ids), trained.probes, trained.rows, mark)
        out.seek(0)
        out.write(head.pack())
        for part, kind in (
            (ids, "<i8"), (sizes, "<i8"), (trained.centroids, "<f4"), (trained.ranges, "<f4"),
        ):  # fmt: skip
            out.write(part.astype(kind).tobytes())
        _flush(out)
    with (folder / CODES).open("xb") as out:
        _write_codes(out, rows, numbers, sizes, trained)
        _flush(out)
    return mark


def train(rows: NDArray[np.float16], lists: int) -> Trained:
    """Centroids of an even sample of the rows, and the ranges of its components."""
    chosen = np.linspace(0, len(rows) - 1, min(len(rows), SAMPLE * lists)).astype(np.int64)
    sample = rows[chosen].astype(np.float32)
    sample = sample[np.isfinite(sample).all(axis=1)]
    if len(sample) < lists:  # hardly a number among them: any centroids will do
        sample = np.concatenate([sample, np.eye(lists, rows.shape[1], dtype=np.float32)])
    low, high = sample.min(axis=0), sample.max(axis=0)
    ranges = np.stack([low, high - low])
    centroids = cluster(sample, lists)
    return Trained(centroids, ranges, enough_probes(rows, centroids), len(rows))


def enough_probes(rows: NDArray[np.float16], centroids: NDArray[np.float32]) -> int:
    """Lists to scan for a query: PROBES, or more where the rows' own neighbours need more.

    Questions lie farther from the rows than these from each other, hence PROBES at least.
    """
    if len(centroids) <= PROBES:
        return len(centroids)
    chosen = np.linspace(0, len(rows) - 1, min(len(rows), TRIALS)).astype(np.int64)
    trials = np.nan_to_num(rows[chosen].astype(np.float32))
    found = _neighbours(rows, trials)
    order = np.argsort(-(trials @ centroids.T), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1)  # of each list for each trial
    needed = [
        ranks[trial, assign(rows[near[near != own]].astype(np.float32), centroids)] + 1
        for trial, (own, near) in enumerate(zip(chosen, found, strict=True))
    ]
    return max(PROBES, int(np.quantile(np.concatenate(needed), FOUND, method="higher")))


def _neighbours(rows: NDArray[np.float16], trials: NDArray[np.float32]) -> NDArray[np.int64]:
    """Rows of the largest inner products with each trial: int64 (trials, NEIGHBOURS + 1)."""
    scores = np.empty((len(trials), 0), np.float32)
    found = np.empty((len(trials), 0), np.int64)
    for span in spans(len(rows)):
        block = np.nan_to_num(rows[span].astype(np.float32))
        new = np.broadcast_to(np.arange(span.start, span.stop), (len(trials), len(block)))
        scores = np.concatenate([scores, trials @ block.T], axis=1)
        found = np.concatenate([found, new], axis=1)
        best = np.argpartition(-scores, min(NEIGHBOURS, scores.shape[1] - 1), axis=1)
        best = best[:, : NEIGHBOURS + 1]
        scores = np.take_along_axis(scores, best, axis=1)
        found = np.take_along_axis(found, best, axis=1)
    return found


def _list_count(rows: int) -> int:
    return max(1, min(rows, round(LISTS * math.sqrt(rows))))


def _assign(
    rows: NDArray[np.float16], trained: Trained, known: NDArray[np.int32] | None
) -> NDArray[np.int32]:
    """The list of each row: int32 (n,)."""
    numbers = np.full(len(rows), -1, np.int32) if known is None else known.copy()
    for span in spans(len(rows)):
        new = np.flatnonzero(numbers[span] < 0) + span.start
        if len(new):
            numbers[new] = assign(rows[new].astype(np.float32), trained.centroids)
    return numbers


def _write_codes(
    out: IO[bytes],
    rows: NDArray[np.float16],
    numbers: NDArray[np.int32],
    sizes: NDArray[np.int64],
    trained: Trained,
) -> None:
    codec = Codec(trained.ranges)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        members = order[start:end]
        for span in spans(len(members)):
            vectors = np.nan_to_num(rows[members[span]].astype(np.float32))
            out.write(codec.encode(vectors).tobytes())
        out.write(members.astype("<i8").tobytes())


def _mark(ids: NDArray[np.int64], trained: Trained) -> int:
    """Tells these lists from others, so that files of two generations are never paired."""
    known = hashlib.blake2b(ids.tobytes(), digest_size=8)
    known.update(trained.centroids.tobytes())
    return int.from_bytes(known.digest(), "little") | 1


def _flush(out: IO[bytes]) -> None:
    out.flush()
    os.fsync(out.fileno())
