"""A trained organiser at work: onnxruntime and tokenizers, nothing of torch (paper 002, 3.3).

Exported once to the user's cache, as encoders are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragcli.encoders.cache import Kind, ensure_export
from ragcli.encoders.organiser_files import CONFIG, OrganiserIdentity, read_organiser
from ragcli.errors import ModelError
from ragcli.paths import shown

if TYPE_CHECKING:
    from ragcli.encoders.pairs import PairTokens

ORGANISER = Kind(
    "organizers",
    "ragcli.encoders.organiser_export",
    "organizer",
    "`ragcli train organizer` makes one",
)
_SHIPPED = "organiser"  # folder within the package


class Graph:
    """An exported organiser with its tokenizer."""

    def __init__(self, tokens: PairTokens, session: Any) -> None:
        self._tokens, self._session = tokens, session

    def scores(self, question: str, sentences: Sequence[str]) -> tuple[tuple[float, ...], float]:
        """One score a sentence, and that of the placeholder; in batches of similar length."""
        from ragcli.encoders.pairs import batches

        pieces = self._tokens.cut(question, sentences)
        out = np.empty(len(pieces), np.float64)
        for rows in batches([len(one) for one in pieces]):
            arrays = self._tokens.arrays([pieces[row] for row in rows])
            (out[rows],) = self._session.run(None, arrays)
        return tuple(out[1:].tolist()), float(out[0])


class TrainedOrganiser:
    """See `ragcli.selection.organiser.Organiser`."""

    def __init__(self, identity: OrganiserIdentity, graph: Graph) -> None:
        self.identity, self._graph = identity, graph

    @property
    def name(self) -> str:
        return self.identity.name

    @property
    def sha256(self) -> str:
        return self.identity.sha256

    @property
    def titled(self) -> bool:
        """Whether it reads sentences under their document's title."""
        return self.identity.config.titled

    def scores(self, question: str, sentences: Sequence[str]) -> tuple[tuple[float, ...], float]:
        return self._graph.scores(question, sentences)


def shipped_organiser() -> Path | None:
    """The folder of the organiser that is part of the package, if one is."""
    folder = Path(str(resources.files("ragcli"))) / _SHIPPED
    return folder if (folder / CONFIG).is_file() else None


def find_organiser(folder: Path | None) -> OrganiserIdentity:
    """The user's, or the one in the package; nothing is loaded. Raises ModelError."""
    return read_organiser(_place(folder))


def open_organiser(
    folder: Path | None,
    *,
    threads: int | None = None,
    log: Callable[[str], None] = lambda message: None,
) -> TrainedOrganiser:
    """The user's, or the one in the package, ready; exported first if it never was.

    Raises ModelError if there is none, or if it cannot be exported or read.
    """
    place = _place(folder)
    identity = read_organiser(place)
    export = ensure_export(place.resolve(), identity, log, ORGANISER)
    return TrainedOrganiser(identity, load_graph(export, threads=threads))


def load_graph(export: Path, *, threads: int | None = None) -> Graph:
    """Opens an export. Raises ModelError if it is incomplete or damaged."""
    from ragcli.encoders.onnx import GRAPH, open_session
    from ragcli.encoders.pairs import PairTokens, Shape

    try:
        meta = json.loads((export / "meta.json").read_bytes())
        shape = Shape(**{**meta, "inputs": tuple(meta["inputs"])})
        tokens = PairTokens(export / "tokenizer.json", shape)
        return Graph(tokens, open_session(export / GRAPH, threads))
    except Exception as error:
        # onnxruntime and tokenizers raise many unrelated classes for a damaged file.
        raise ModelError(
            f"the exported organizer cannot be used: {shown(export)} ({type(error).__name__})",
            hint=f"remove {shown(export)}; it is written anew when needed",
        ) from error


def _place(folder: Path | None) -> Path:
    place = folder or shipped_organiser()
    if place is None:
        raise ModelError(
            "no organizer: none comes with this version, and none is named",
            hint="`ragcli train organizer --data FILE --model GGUF --out DIR` trains one;"
            " then --organizer DIR",
        )
    return place
