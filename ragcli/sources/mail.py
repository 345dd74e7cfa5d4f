"""E-mail: a message (.eml, Maildir) or many (.mbox), by the standard library's parser.

Its old policy (compat32) is used: the newer one raises on headers that real mail has.
Nothing is fetched, attachments are named, and no encoded data comes into the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesParser

from ragcli.errors import SourceError
from ragcli.sources.decode import clean, decode
from ragcli.sources.joined import Joined
from ragcli.sources.mail_body import Body, body_parts
from ragcli.sources.mail_text import mail_blocks
from ragcli.types import Block, Extracted

MESSAGES = 10_000  # of a mailbox that are read, and
TEXT = 32_000_000  # characters of their text
_SHOWN_ATTACHMENTS = 20
_LONGEST_HEADER = 2_000  # characters
_FROM_LINE = re.compile(rb"^From [^\r\n]{1,300}\d{4}[^\r\n]{0,20}\r?$", re.MULTILINE)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEADERS = ("From", "To", "Cc", "Date")
# What the parser and the header decoder raise on hostile mail, seen by fuzzing.
_PARSE_ERRORS = (MessageError, HeaderParseError, ValueError, LookupError, TypeError, AttributeError)


def header(message: Message, name: str) -> str:
    """A header on one line, encoded words decoded as far as they can be."""
    raw = message.get(name, "")
    try:
        # Undecodable bytes come as a Header, which keeps them; as a string they are lost.
        pieces = decode_header(raw[:_LONGEST_HEADER] if isinstance(raw, str) else raw)
    except _PARSE_ERRORS:
        pieces = [(str(raw)[:_LONGEST_HEADER], None)]
    shown, before = "", None
    for piece, charset in pieces:
        # Blanks between two encoded words are none of the text; others are lost by the parser.
        shown += "" if before and charset else " "
        shown += piece if isinstance(piece, str) else decode(piece, charset).text
        before = charset
    return " ".join(clean(shown.encode("utf-8", "replace").decode()).split())


def _parse(data: bytes) -> Message:
    """Raises SourceError on mail that the parser cannot take."""
    data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")  # both hide the headers
    try:
        return BytesParser(policy=policy.compat32).parsebytes(data)
    except RecursionError as error:
        raise SourceError("mail nested too deep") from error
    except _PARSE_ERRORS as error:
        raise SourceError("broken mail") from error


def _head(message: Message, subject: str) -> str:
    """Subject, sender, receivers and date, a line each."""
    shown = [("Subject", subject), *((name, header(message, name)) for name in _HEADERS)]
    return "\n".join(f"{name}: {value[:500]}" for name, value in shown if value)


class _Mail:
    """Messages made one text. `notes` says what was left out."""

    def __init__(self) -> None:
        self.out = Joined()
        self.attached: list[str] = []
        self.encrypted = 0
        self.unsure: list[str] = []
        self.missing: list[str] = []

    def message(self, message: Message, place: str, subject: str) -> None:
        head = _head(message, subject)
        if place:
            self.out.add(subject, [Block(0, len(subject), "heading", 1)], place)
        self.out.add(head, [Block(0, len(head), "table")], place)
        for body in body_parts(message):
            self._body(body, place)

    def _body(self, body: Body, place: str) -> None:
        if body.encrypted:
            self.encrypted += 1
        self.unsure += [note for note in body.notes if note not in self.unsure]
        if body.missing:
            lost = f"{place}: {body.missing}" if place else body.missing
            self.missing += [lost] if lost not in self.missing else []
        if body.attachment:
            self.attached.append(body.attachment)
        if body.message is not None:  # a forwarded one
            subject = header(body.message, "Subject")
            head = _head(body.message, subject)
            self.out.add(head, [Block(0, len(head), "table")], place)
        elif body.html is not None:
            self.out.add(body.html.text, body.html.blocks, place)
        elif body.text:
            for text, blocks, is_quoted in mail_blocks(body.text):
                self.out.add(text, blocks, _quoted(place) if is_quoted else place)

    def notes(self) -> tuple[str, ...]:
        told = self.unsure[:5]
        if self.attached:
            names = ", ".join(self.attached[:_SHOWN_ATTACHMENTS])
            more = len(self.attached) - _SHOWN_ATTACHMENTS
            told.append(f"attached, not read: {names}{f' and {more} more' if more > 0 else ''}")
        if self.encrypted:
            told.append("encrypted parts left out")
        return tuple(told)


def _quoted(place: str) -> str:
    return f"{place}, quoted" if place else "quoted"


def load_mail(data: bytes, ending: str) -> Extracted:
    """One message: its head, then its text; quoted replies have the place "quoted".

    Raises SourceError: nested too deep, nothing to read.
    """
    message = _parse(data)
    mail = _Mail()
    subject = header(message, "Subject")
    mail.message(message, "", subject)
    out = mail.out
    return Extracted(
        out.text(), "mail", tuple(out.blocks), subject[:300],
        notes=mail.notes(), places=tuple(out.places), missing=tuple(mail.missing),
    )  # fmt: skip


def _messages(data: bytes) -> Iterator[bytes]:
    """The messages of a mailbox: what stands between "From " lines that follow a blank line."""
    starts = [
        (found.start(), found.end())
        for found in _FROM_LINE.finditer(data)
        if found.start() == 0
        or data[max(0, found.start() - 4) : found.start()].endswith((b"\n\n", b"\n\r\n"))
    ]
    for at, (_, begin) in enumerate(starts):
        end = starts[at + 1][0] if at + 1 < len(starts) else len(data)
        yield _QUOTED_FROM.sub(rb"\1", data[begin:end].lstrip(b"\r\n"))


def load_mbox(data: bytes, ending: str) -> Extracted:
    """A mailbox: "message 3: Subject" is the place of what the third message says.

    One broken message loses only itself. Beyond `MESSAGES` or `TEXT` the rest is
    left out, and said to be missing. Raises SourceError where there is no message.
    """
    mail = _Mail()
    missing = mail.missing
    number = 0
    for number, raw in enumerate(_messages(data), 1):
        if number > MESSAGES or mail.out.length > TEXT:
            missing.append(f"messages from {number} on (too many)")
            break
        try:
            message = _parse(raw)
        except SourceError as error:
            missing.append(f"message {number} ({error.message})")
            continue
        subject = header(message, "Subject") or "(no subject)"
        mail.message(message, f"message {number}: {subject[:80]}", subject)
    if not number:
        raise SourceError("no messages in it")
    out = mail.out
    return Extracted(
        out.text(), "mbox", tuple(out.blocks), notes=mail.notes(),
        places=tuple(out.places), missing=tuple(missing),
    )  # fmt: skip
