"""The exported encoder: onnxruntime and tokenizers, nothing of torch."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from ragcli.encoders.base import EncoderIdentity
from ragcli.errors import ModelError
from ragcli.paths import shown

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

GRAPH, WEIGHTS = "model.onnx", "weights.bin"
# Padded word pieces in one run of the graph: what a run works on stays in the processor's cache
# (MiniLM on one core: 512 takes 0.88 of the time that 2048 takes).
BATCH_TOKENS = 512
SHORTEST = 0.75  # of the longest text of a batch: less padding is worth more, smaller batches
LEAST_TOKENS = 256  # but smaller batches than this do not pay
CHARACTERS_PER_TOKEN = 200  # what lies beyond cannot be within the encoder's window
TOKENIZE_AT_ONCE = 1024
PROVIDERS = ["CPUExecutionProvider"]
FLOAT = 1  # onnx.TensorProto.FLOAT


@dataclass(frozen=True, slots=True)
class GraphMeta:
    """What the export says of the graph, beside the graph itself.

    alone: each text is a run of its own, because the numbers' scale is taken from the run.
    """

    dimension: int
    max_tokens: int
    lower_case: bool
    pad_id: int
    special_tokens: int
    alone: bool = False


class Graph:
    """An exported graph with its tokenizer.

    Several batches run at once, each on one thread: threads that share one small batch
    wait for each other more than they gain.
    """

    def __init__(self, folder: Path, session: Any, meta: GraphMeta, threads: int) -> None:
        self._folder = folder
        self._session = session
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._tokenizer = _tokenizer(folder)
        self._tokenizer.enable_truncation(meta.max_tokens)
        self._counter: Tokenizer | None = None
        self.meta = meta

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 (n, dimension), unit rows, in the order of `texts`.

        Texts are encoded in batches of similar length, so little is spent on padding.
        """
        out = np.empty((len(texts), self.meta.dimension), np.float32)
        for start in range(0, len(texts), TOKENIZE_AT_ONCE):
            part = texts[start : start + TOKENIZE_AT_ONCE]
            encodings = self._tokenizer.encode_batch_fast([self._clean(text) for text in part])
            lengths = [len(e.ids) for e in encodings]
            batches = _alone(lengths) if self.meta.alone else list(_batches(lengths))
            runs = ([encodings[row] for row in rows] for rows in batches)
            for rows, vectors in zip(batches, self._each(runs, len(batches)), strict=True):
                out[start + rows] = vectors
        return out

    def _each(self, runs: Iterator[list[Encoding]], count: int) -> Iterator[NDArray[np.float32]]:
        """The vectors of each run, in order. What was not begun is dropped when the caller ends."""
        if self._threads == 1 or count == 1:
            yield from map(self._run, runs)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._threads, "encoder")
        waiting = [self._pool.submit(self._run, run) for run in runs]
        try:
            for future in waiting:
                yield future.result()
        finally:
            for future in waiting:
                future.cancel()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Word pieces of each text without special tokens, nothing cut off."""
        if self._counter is None:
            self._counter = _tokenizer(self._folder)
        clean = [_decodable(text) for text in texts]
        return [
            len(e.ids) for e in self._counter.encode_batch_fast(clean, add_special_tokens=False)
        ]

    def _clean(self, text: str) -> str:
        """As sentence-transformers prepares a text: stripped, lower case if the model wants it."""
        text = _decodable(text.strip()[: self.meta.max_tokens * CHARACTERS_PER_TOKEN])
        return text.lower() if self.meta.lower_case else text

    def _run(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        """One batch, padded to its longest text."""
        length = max(len(e.ids) for e in encodings)
        ids = np.full((len(encodings), length), self.meta.pad_id, np.int64)
        mask = np.zeros((len(encodings), length), np.int64)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        (vectors,) = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
        return np.asarray(vectors, np.float32)


class OnnxEncoder:
    """`Encoder` over an exported graph."""

    def __init__(self, graph: Graph, identity: EncoderIdentity) -> None:
        self._graph = graph
        self._identity = identity

    @property
    def identity(self) -> EncoderIdentity:
        return self._identity

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._graph.encode(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._graph.count_tokens(texts)


def load_graph(folder: Path, *, threads: int | None) -> Graph:
    """Opens the export in `folder`. threads: texts encoded at once, None for one a CPU.

    Raises ModelError if the export is incomplete or damaged.
    """
    try:
        meta = GraphMeta(**json.loads((folder / "meta.json").read_bytes()))
        session = open_session(folder / GRAPH, 1)
        return Graph(folder, session, meta, threads or _cpus())
    except Exception as error:
        # onnxruntime and tokenizers raise many unrelated classes for a damaged file.
        raise ModelError(
            f"the exported encoder cannot be used: {shown(folder)} ({_first_line(error)})",
            hint=f"remove {shown(folder)}; it is written anew when needed",
        ) from error


def optimise(source: Path, target: Path) -> None:
    """Writes the graph `source` into the folder `target` as `load_graph` wants it.

    Fusions are done once, not at every start; weights lie in a file of their own, which
    onnxruntime maps into memory: of the word embeddings only the pages of words that
    occur are ever read. (MiniLM: 18 ms and 120 MB to open, against 170 ms and 190 MB.)
    """
    options = _options(None)
    # "Extended" does not depend on the processor, so that a cache may be shared.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(target / GRAPH)
    name = "session.optimized_model_external_initializers"
    options.add_session_config_entry(f"{name}_file_name", WEIGHTS)
    options.add_session_config_entry(f"{name}_min_size_in_bytes", "1024")
    onnxruntime.InferenceSession(str(source), options, providers=PROVIDERS)


def quantise(source: Path, target: Path) -> None:
    """Writes the exported graph in the folder `source` with int8 products into `target`.

    Weights have a scale a column, found once; activations one scale a run, found as it runs
    (dynamic quantisation). Embeddings, norms and attention scores stay float32.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory(dir=target) as plain:
        quantize_dynamic(
            source / GRAPH, Path(plain, GRAPH), weight_type=QuantType.QInt8, per_channel=True,
            op_types_to_quantize=["MatMul"],
            # The first: products of two activations stay as they are. The second is the type of
            # what onnxruntime's own fused nodes give, which shape inference does not know.
            extra_options={"MatMulConstBOnly": True, "DefaultTensorType": FLOAT},
        )  # fmt: skip
        optimise(Path(plain, GRAPH), target)


def open_session(file: Path, threads: int | None) -> Any:
    """A session over a graph that `optimise` wrote."""
    options = _options(threads)
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(file), options, providers=PROVIDERS)


def _options(threads: int | None) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # every batch has another shape
    # Packing the weights costs more than a one-shot search gains by it; spinning threads
    # take the processor from the processes that read files.
    options.add_session_config_entry("session.disable_prepacking", "1")
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if threads is not None:
        options.intra_op_num_threads = threads
    return options


def _tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def _decodable(text: str) -> str:
    """Lone surrogates become question marks: the tokenizer takes valid Unicode only."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _cpus() -> int:
    """The CPUs that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def _alone(lengths: Sequence[int]) -> list[NDArray[np.int64]]:
    """One row a batch, longest first: the last to run are short, so threads end together."""
    return list(np.argsort(-np.asarray(lengths), kind="stable")[:, None])


def _batches(lengths: Sequence[int]) -> Iterator[NDArray[np.int64]]:
    """Row numbers in batches of similar length, longest first, within BATCH_TOKENS."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    ordered = np.asarray(lengths)[order]
    start = 0
    while start < len(order):
        longest = max(1, int(ordered[start]))
        most = max(1, BATCH_TOKENS // longest)
        least = max(1, LEAST_TOKENS // longest)
        similar = int(np.count_nonzero(ordered[start:] >= SHORTEST * longest))
        rows = min(most, max(least, similar))
        yield order[start : start + rows]
        start += rows


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
