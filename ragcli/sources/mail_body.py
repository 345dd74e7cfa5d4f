"""Which parts of a message are read: its text, or its HTML; the others are named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email.header import decode_header
from email.message import Message

from ragcli.errors import SourceError
from ragcli.sources.decode import decode
from ragcli.types import Extracted

_PARTS = 500  # of a message that are looked at
_LARGEST = 4_000_000  # bytes of a part that are read
_TEXTS = frozenset({"text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/x-diff", "text/x-patch"})  # fmt: skip
_ENCRYPTED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "application/pgp-encrypted", "multipart/encrypted"})  # fmt: skip
# Parts about the mail, not of it.
_SILENT = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-encrypted", "message/delivery-status", "text/rfc822-headers", "application/pgp-keys"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Body:
    """One part: its text, its HTML as read, a forwarded message, or the name of what is not read.

    missing: what of the message is lost here, in words.
    """

    text: str = ""
    html: Extracted | None = None
    message: Message | None = None
    attachment: str = ""
    encrypted: bool = False
    notes: tuple[str, ...] = ()
    missing: str = ""


def _payload(part: Message) -> bytes:
    """The bytes of a part; b"" where there are none to be had."""
    try:
        data = part.get_payload(decode=True)
    except (ValueError, LookupError, TypeError, AttributeError):
        return b""
    return data if isinstance(data, bytes) else b""


def _cut(data: bytes) -> str:
    """What of a part is lost because it is too large, "" for nothing."""
    return f"what comes after {_LARGEST / 1e6:g} MB of a part" if len(data) > _LARGEST else ""


def _charset(part: Message) -> str | None:
    try:
        charset = part.get_content_charset()
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return charset.split()[0].strip("\"'") if charset and charset.split() else None


def _text(part: Message) -> Body:
    data = _payload(part)
    decoded = decode(data[:_LARGEST], _charset(part))
    notes = (decoded.note,) if decoded.note else ()
    return Body(text=decoded.text, notes=notes, missing=_cut(data))


def _named(part: Message) -> str:
    """The file name of an attachment, "" for none."""
    try:
        name = part.get_filename() or ""
        pieces = decode_header(name) if "=?" in name else [(name, None)]
        shown = "".join(
            one if isinstance(one, str) else decode(one, charset).text for one, charset in pieces
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        return "?"
    shown = shown.encode("utf-8", "replace").decode()
    return " ".join(shown.split())[:100]


def _html(part: Message) -> Body:
    from ragcli.sources.html import declared_charset, parse

    data = _payload(part)
    try:
        found = parse(decode(data[:_LARGEST], _charset(part) or declared_charset(data)))
    except SourceError:
        return Body(missing=_cut(data))
    return Body(html=found, notes=found.notes, missing=_cut(data))


def _leaves(message: Message) -> Iterator[Message | None]:
    """Parts in order, without recursion; of alternatives the one that is read best.

    None at the end if there were more than are looked at.
    """
    stack: list[Message] = [message]
    seen = 0
    while stack and seen < _PARTS:
        part = stack.pop()
        seen += 1
        children = part.get_payload() if part.is_multipart() else None
        if not isinstance(children, list):
            yield part
            continue
        if part.get_content_maintype() == "message" and part is not message:
            yield part
        parts = [child for child in children if isinstance(child, Message)]
        if part.get_content_type() == "multipart/alternative":
            parts = _best(parts)
        stack += reversed(parts)
    if stack:
        yield None


def _best(parts: list[Message]) -> list[Message]:
    """Plain text if it says anything, else HTML or what holds it, else all of them."""
    for wanted in ("text/plain", "text/html"):
        found = [
            part for part in parts if part.get_content_type() == wanted and _payload(part).strip()
        ]
        if found:
            return found[:1]
    return [part for part in parts if part.is_multipart()][:1] or parts


def body_parts(message: Message) -> Iterator[Body]:
    """What there is to read in a message, in order."""
    for part in _leaves(message):
        if part is None:
            yield Body(missing=f"parts and forwarded messages after the first {_PARTS}")
            continue
        kind = part.get_content_type()
        name = _named(part)
        if part.is_multipart():
            yield Body(message=_inner(part))
        elif kind in _SILENT:
            if kind in _ENCRYPTED:
                yield Body(encrypted=True)
        elif kind in _ENCRYPTED:
            yield Body(encrypted=True)
        elif kind in _TEXTS:
            yield _text(part)
        elif kind == "text/html":
            yield _html(part)
        elif name or part.get_content_maintype() != "text":
            yield Body(attachment=name or kind)
        else:
            yield _text(part)


def _inner(part: Message) -> Message:
    inner = part.get_payload()
    return inner[0] if isinstance(inner, list) and inner and isinstance(inner[0], Message) else part
