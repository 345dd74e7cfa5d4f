"""A PDF written by hand: pages of lines in Helvetica, or any objects."""

from __future__ import annotations

from collections.abc import Sequence

FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def assemble(objects: Sequence[bytes]) -> bytes:
    """A file of these objects, numbered from 1; the first is the catalog."""
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)


def stream(content: bytes, filters: bytes = b"") -> bytes:
    return b"<</Length %d%b>>\nstream\n%b\nendstream" % (len(content), filters, content)


def pdf(*pages: Sequence[str]) -> bytes:
    """A page for each list of lines; an empty one has a picture in place of text."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * at) for at in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, len(pages)),
        FONT,
    ]
    for at, lines in enumerate(pages):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]"
            b"/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>" % (5 + 2 * at)
        )
        objects.append(stream(_content(lines)))
    return assemble(objects)


def _content(lines: Sequence[str]) -> bytes:
    if not lines:
        return b"q 100 0 0 100 50 50 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"
    drawn = [b"BT /F 11 Tf 14 TL 72 760 Td"]
    for line in lines:
        text = line.encode("latin-1").replace(b"\\", b"\\\\").replace(b"(", b"\\(")
        drawn.append(b"(%b) Tj T*" % text.replace(b")", b"\\)"))
    return b"\n".join([*drawn, b"ET"])
