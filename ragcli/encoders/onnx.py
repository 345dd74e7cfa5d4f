"""The exported encoder: onnxruntime and tokenizers, nothing of torch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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
BATCH_TOKENS = 2048  # padded word pieces in one run of the graph
SHORTEST = 0.75  # of the longest text of a batch: less padding is worth more, smaller batches
LEAST_TOKENS = 256  # but smaller batches than this do not pay
CHARACTERS_PER_TOKEN = 200  # what lies beyond cannot be within the encoder's window
TOKENIZE_AT_ONCE = 1024
PROVIDERS = ["CPUExecutionProvider"]


@dataclass(frozen=True, slots=True)
class GraphMeta:
    """What the export says of the graph, beside the graph itself."""

    dimension: int
    max_tokens: int
    lower_case: bool
    pad_id: int
    special_tokens: int


class Graph:
    """An exported graph with its tokenizer."""

    def __init__(self, folder: Path, session: Any, meta: GraphMeta) -> None:
        self._folder = folder
        self._session = session
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
            for rows in _batches([len(e.ids) for e in encodings]):
                out[start + rows] = self._run([encodings[row] for row in rows])
        return out

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
    """Opens the export in `folder`. threads None: onnxruntime's own choice.

    Raises ModelError if the export is incomplete or damaged.
    """
    try:
        meta = GraphMeta(**json.loads((folder / "meta.json").read_bytes()))
        return Graph(folder, open_session(folder / GRAPH, threads), meta)
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
