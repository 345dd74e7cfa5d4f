"""Zip documents from their parts, and what every loader's result must keep to."""

from __future__ import annotations

import io
import itertools
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from ragcli.errors import SourceError
from ragcli.types import Extracted

from .checks import Loader

DOCTYPE = '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # old office files, and new ones with a password
LOCKED = OLE + "EncryptedPackage".encode("utf-16-le")


def saved(document: Any) -> bytes:
    """What a library writes that saves its documents into a file."""
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def archive(parts: Mapping[str, str | bytes], stored: str = "") -> bytes:
    """A zip file; the part `stored` is not packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            method = zipfile.ZIP_STORED if name == stored else zipfile.ZIP_DEFLATED
            file.writestr(name, content, method)
    return out.getvalue()


def without(data: bytes, name: str) -> bytes:
    """The same archive without one part."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return archive({n: file.read(n) for n in file.namelist() if n != name})


def replaced(data: bytes, name: str, content: str | bytes) -> bytes:
    """The same archive with one part changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return archive({n: file.read(n) for n in file.namelist()} | {name: content})


def shown(extracted: Extracted) -> list[tuple[str, str]]:
    """(kind, text) of each block."""
    return [(b.kind, extracted.text[b.start : b.end]) for b in extracted.blocks]


def labelled(extracted: Extracted) -> dict[str, str]:
    """The first line of text at each place."""
    return {label: extracted.text[at:].lstrip().split("\n")[0] for at, label in extracted.places}


def check(extracted: Extracted) -> None:
    """Blocks, places and pages are in order and inside the text; nothing raw is in it."""
    text = extracted.text
    assert all(0 <= b.start < b.end <= len(text) for b in extracted.blocks)
    assert all(a.end <= b.start for a, b in itertools.pairwise(extracted.blocks))
    offsets = [at for at, _ in extracted.places]
    assert offsets == sorted(set(offsets))
    assert all(0 <= at < len(text) and label for at, label in extracted.places)
    assert list(extracted.page_starts) == sorted(extracted.page_starts)
    assert all(0 <= at <= len(text) for at in extracted.page_starts)
    assert not any(ord(c) < 32 and c not in "\n\t" for c in text)
    covered = sum(len(text[b.start : b.end].strip()) for b in extracted.blocks)
    gaps = sum(c.isspace() for c in text)
    assert covered >= len(text) - gaps


def sound_or_refused(load: Loader, data: bytes, ending: str) -> None:
    """The loader raises nothing but its own error, and what it gives keeps to `check`."""
    with suppress(SourceError):
        check(load(data, ending))


def damaged(data: bytes) -> st.SearchStrategy[bytes]:
    """The same bytes with some overwritten."""
    return st.builds(
        lambda at, junk: data[:at] + junk + data[at + len(junk) :],
        st.integers(0, len(data) - 1),
        st.binary(min_size=1, max_size=20),
    )
