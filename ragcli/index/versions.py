"""How an index was made: recorded in it, and compared before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragcli.encoders.base import EncoderIdentity
from ragcli.errors import IndexUnusable
from ragcli.index.schema import CHUNKING_VERSION, REBUILD
from ragcli.text.analysis import ANALYZER_VERSION


def encoder_meta(identity: EncoderIdentity) -> dict[str, Any]:
    return {
        "name": identity.name,
        "sha256": identity.sha256,
        "dimension": identity.dimension,
        "max_tokens": identity.max_tokens,
        "languages": identity.languages,
    }


def versions(identity: EncoderIdentity) -> dict[str, Any]:
    """What an index records of how it was made."""
    return {
        "encoder": encoder_meta(identity),
        "analyzer": ANALYZER_VERSION,
        "chunking": CHUNKING_VERSION,
    }


def check_versions(meta: Mapping[str, Any]) -> None:
    """Raises IndexUnusable if texts were analysed or cut in another way than now."""
    for key, now in (("analyzer", ANALYZER_VERSION), ("chunking", CHUNKING_VERSION)):
        if key in meta and meta[key] != now:
            raise IndexUnusable(
                f"the index was made with {key} version {meta[key]}, this ragcli has {now}",
                hint=REBUILD,
            )


def check_encoder(meta: Mapping[str, Any], identity: EncoderIdentity) -> None:
    """Raises IndexUnusable, naming both, if the index holds vectors of another encoder."""
    stored = meta.get("encoder")
    if stored is None or stored == encoder_meta(identity):
        return
    if not isinstance(stored, dict):
        raise IndexUnusable("the index's settings are damaged", hint=REBUILD)
    raise IndexUnusable(
        f"the index was made with the encoder {_named(stored)}, "
        f"not with {_named(encoder_meta(identity))}",
        hint=f"name the first one with --encoder, or {REBUILD}",
    )


def _named(encoder: Mapping[str, Any]) -> str:
    return f"{encoder.get('name')} ({str(encoder.get('sha256'))[:12]}, {encoder.get('dimension')} components)"
