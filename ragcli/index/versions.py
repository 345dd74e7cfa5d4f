"""How an index was made: recorded in it, and compared before it is used."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from ragcli.encoders.base import EXACT, PRECISIONS, EncoderIdentity
from ragcli.errors import IndexUnusable
from ragcli.index.schema import CHUNKING_VERSION, REBUILD
from ragcli.text.analysis import ANALYZER_VERSION


def encoder_meta(identity: EncoderIdentity) -> dict[str, Any]:
    meta = {
        "name": identity.name,
        "sha256": identity.sha256,
        "dimension": identity.dimension,
        "max_tokens": identity.max_tokens,
        "languages": identity.languages,
    }
    if identity.precision != EXACT:
        meta["precision"] = identity.precision
    return meta


def recorded_precision(index_dir: Path) -> str:
    """The precision of the encoder that made the index; exact where there is none to be read."""
    from ragcli.index.catalog import connect
    from ragcli.index.location import CATALOG

    try:
        with closing(connect(index_dir / CATALOG, "ro")) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchone()
        found = json.loads(row[0])["precision"] if row else EXACT
    except (sqlite3.Error, OSError, ValueError, KeyError, TypeError):
        return EXACT  # what is wrong with the index is said by who opens it
    return found if found in PRECISIONS else EXACT


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
    now = encoder_meta(identity)
    before, after = (meta.get("precision", EXACT) for meta in (stored, now))
    option = "--encoder" if before == after else f"--encoder-precision {before}"
    named = "give" if before != after else "name the first one with"
    raise IndexUnusable(
        f"the index was made with the encoder {_named(stored)}, not with {_named(now)}",
        hint=f"{named} {option}, or {REBUILD}",
    )


def _named(encoder: Mapping[str, Any]) -> str:
    precision = encoder.get("precision", EXACT)
    name = encoder.get("name") if precision == EXACT else f"{encoder.get('name')} {precision}"
    return f"{name} ({str(encoder.get('sha256'))[:12]}, {encoder.get('dimension')} components)"
