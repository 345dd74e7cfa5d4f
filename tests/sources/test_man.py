import gzip
from pathlib import Path

import pytest

from ragcli.errors import SourceError
from ragcli.sources import packed
from ragcli.sources.man import load_man
from ragcli.sources.sniff import inspect
from tests.sources.checks import check, same_lines, sentences, shown

MAN = r"""'\" t
.\" a comment
.TH FOO 1 "2024-01-01" "foo 1.0"
.SH NAME
foo \- a \fItool\fR for \(lqvalves\(rq
.SH OPTIONS
.TP
.BR \-v ", " \-\-verbose
Be
.B very
verbose.
POSIX is followed.
.IP \(bu 2
An item.
.SS Files and \*(lqothers\*(rq
.nf
x = 1 \e n
   y
.fi
.TS
l l.
a	b
.TE
See
.BR tar (1),
.UR http://x.org
.UE
"""
MDOC = r""".Dd January 1, 2024
.Dt BAR 8
.Os
.Sh NAME
.Nm bar
.Nd open a valve
.Sh SYNOPSIS
.Nm
.Op Fl v
.Op Fl o Ar file
.Sh DESCRIPTION
The
.Nm
utility opens
.Pa /dev/valve
.Pq see Xr foo 1 .
.Bl -tag
.It Fl v
Be loud.
.It Fl o Ar file , Fl -output Ar file
Write to
.Dq file .
.El
"""


def test_man_macros() -> None:
    found = load_man(MAN.encode(), ".1")
    check(found)
    same_lines(found, MAN.encode())
    assert (found.kind, found.title) == ("man", "FOO(1)")
    assert sentences(found) == [
        (4, "NAME"),
        (5, "foo - a tool for “valves”"),
        (6, "OPTIONS"),
        (9, "-v, --verbose: Be very verbose."),
        (12, "POSIX is followed."),
        (14, "- An item."),
        (15, "Files and “others”"),
        (17, "x = 1 \\ n"),
        (18, "y"),
        (22, "a | b"),
        (24, "See tar(1), http://x.org"),
    ]
    headings = [(level, text) for kind, level, text in shown(found) if kind == "heading"]
    assert [level for level, _ in headings] == [1, 1, 2]


def test_mdoc_macros() -> None:
    found = load_man(MDOC.encode(), ".8")
    check(found)
    same_lines(found, MDOC.encode())
    assert found.title == "BAR(8)"
    assert sentences(found) == [
        (4, "NAME"),
        (5, "bar — open a valve"),
        (7, "SYNOPSIS"),
        (8, "bar [-v] [-o file]"),
        (11, "DESCRIPTION"),
        (12, "The bar utility opens /dev/valve (see foo(1).)"),
        (19, "-v: Be loud."),
        (21, "-o file, --output file: Write to “file.”"),
    ]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (r"a\-b \fBbold\fP \f(CWmono\fR \f[I]x\f[]", "a-b bold mono x"),
        (r"na\[:i]ve \('e \[u00E9] \(em", "naïve é é —"),
        (r"\s+2big\s0 \m[red]red\m[] \h'3m'\&.x", "big red .x"),
        (r"text \" a comment", "text"),
        (r".B two words", "two words"),
        (r'.BI "a b" c', "a bc"),
        (r".RB [ \-x ]", "[-x]"),
        (".de XX\nno\n..\nyes", "yes"),
        (".if n \\{\\\n.no\n.\\}\nyes", "yes"),
        (".so man1/other.1\nyes", "yes"),
        (".unknown macro\nyes", "yes"),
        (".TP\n.B tag\n.SH X\nyes", "tag:|X|yes"),
    ],
)
def test_what_is_printed(line: str, text: str) -> None:
    found = load_man(line.encode(), ".1")
    check(found)
    assert "|".join(one for _, one in sentences(found)) == text


def test_the_declared_coding_is_used() -> None:
    page = "'\\\" -*- coding: koi8-r -*-\n.TH A 1\n.SH ИМЯ\nпривет мир\n".encode("koi8-r")
    assert "привет мир" in load_man(page, ".1").text


def test_a_packed_page_is_read_as_if_it_were_not(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(MAN.encode())
    assert inspect(Path("foo.1.gz"), data).kind == "man"
    assert load_man(data, ".gz") == load_man(MAN.encode(), ".1")
    with pytest.raises(SourceError, match="cut off"):
        load_man(data[:-20], ".gz")
    with pytest.raises(SourceError, match="damaged"):
        load_man(packed.MAGIC + b"no gzip at all", ".gz")
    monkeypatch.setattr(packed, "MOST", 20)
    with pytest.raises(SourceError, match="bomb"):
        load_man(data, ".gz")


@pytest.mark.parametrize("text", [b"syslog line\n" * 9, b"", b"\0" * 10_000])
def test_other_packed_files_are_archives(text: bytes) -> None:
    assert inspect(Path("syslog.1.gz"), gzip.compress(text)).reason == "binary (gzip archive)"
    assert inspect(Path("foo.1.gz"), packed.MAGIC + b"\0\1").reason == "binary (gzip archive)"
