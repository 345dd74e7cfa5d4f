"""What an answer records so that it can be checked and replayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import metadata
from types import MappingProxyType
from typing import Any

from ragcli import __version__
from ragcli.decoding.settings import Settings
from ragcli.llm.base import ModelIdentity
from ragcli.methods.passes import Retrieval
from ragcli.paths import shown
from ragcli.selection.organiser import Organised
from ragcli.types import Document


def provenance(
    *,
    model: ModelIdentity | None,
    index: dict[str, Any],
    documents: Iterable[Document],
    settings: Settings,
    method: str,
    base: str = "",
    decode: str,
    prompt: str,
    selected_by: str,
    verifier: str,
    retrievals: Sequence[Retrieval] = (),
    organized: dict[str, Any] | None = None,
    language: str = "",
    request: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Everything JSON: identities, hashes, options; see the answer schema.

    index: `Reader.identity`, the encoder's identity within. documents: those whose
    sentences were shown to the model. organized: see `organised_document`. retrievals: those in the middle of the answer.
    language: in which the answer was judged. request: `AskOptions.recorded`.
    """
    return {
        "ragcli": __version__,
        "engine": f"llama-cpp-python {_version('llama-cpp-python')}",
        "language": language,
        "request": dict(request),
        "method": method,
        "base": base,
        "decode": decode,
        "prompt": prompt,
        "selected_by": selected_by,
        "verifier": verifier,
        "retrievals": [asdict(one) for one in retrievals],
        "organized": organized,
        "seed": settings.sampling.seed,
        "options": settings.as_dict(),
        "model": None if model is None else _model(model),
        "index": index,
        "documents": [
            {
                "path": shown(document.path),
                "relative": shown(document.relative),
                "sha256": document.sha256,
            }
            for document in sorted(documents, key=lambda d: d.path)
        ],
    }


def _version(package: str) -> str:
    """The installed version of a package, "" if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def organised_document(
    organised: Organised | None, documents: Mapping[int, Document]
) -> dict[str, Any] | None:
    """Which organiser ran, and every score; offsets are into the documents' texts."""
    if organised is None:
        return None
    return {
        "name": organised.name,
        "sha256": organised.sha256,
        "placeholder": organised.placeholder,
        "sentences": [
            {
                "path": shown(documents[one.sentence.document_id].path),
                "start": one.sentence.start,
                "end": one.sentence.end,
                "score": one.score,
                "kept": one.kept,
            }
            for one in organised.sentences
        ],
    }


def _model(model: ModelIdentity) -> dict[str, Any]:
    return {
        "name": model.name,
        "file": shown(model.path.name),
        "sha256": model.sha256,
        "size": model.size,
        "architecture": model.architecture,
    }
