"""Every loader of text-like formats on hostile input: one error class, sound results, linear work."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.errors import SourceError
from ragcli.sources.code import load_code
from ragcli.sources.json import load_json, load_jsonl
from ragcli.sources.latex import load_latex
from ragcli.sources.mail import load_mail, load_mbox
from ragcli.sources.man import load_man
from ragcli.sources.notebook import load_notebook
from ragcli.sources.org import load_org
from ragcli.sources.rst import load_rst
from ragcli.sources.subtitles import load_subtitles
from tests.sources.checks import Loader, documents, lines_kept, loaded

RST = documents(".. ", "note:: ", "code-block:: c", "::", "====", "----", "+--+", "=== ===", "   ", ":a: ", "- ", ".. [1] ", ">>> ", "|", "`x`_", ".. x: y")  # fmt: skip
ORG = documents("* ", "** TODO ", "#+begin_src c", "#+end_src", "#+begin_quote", ":a:", ":END:", "| a |", "- ", "#+title: ", "# ", ": ", "SCHEDULED: <", ":PROPERTIES:")  # fmt: skip
LATEX = documents("\\section{", "}", "{", "[", "]", "\\begin{document}", "\\end{document}", "\\begin{verbatim}", "\\end{verbatim}", "\\begin{tabular}{ll}", "\\end{tabular}", "\\\\", "\\", "%", "$", "&", "\\cite{", "\\label{", "\\title{", "\\footnote{", "\\item[", "\\frac{", "\\'", "\\\"{", "\\alpha ", "\\verb|", "|", "\\newcommand{\\x}[1]{", "\\iffalse", "\\fi", "~", "--", "``", "\\caption{")  # fmt: skip
MAN = documents(".TH A 1 ", ".SH N", ".B ", ".BR a (1)", ".TP", ".IP \\(bu 2", ".nf", ".fi", ".TS", ".TE", "l l.", "\\fB", "\\f[", "\\(", "\\*(", "\\s+", "\\h'", '"', ".Dd x", ".It Fl a", ".Op Fl b Ar", ".Nm", ".de", "..", ".if n \\{", ".\\}", "\\", ".Fn a b", "T{", ".Xr a 1")  # fmt: skip
MAIL = documents("From: a@b\n", "Subject: =?utf-8?q?a?=\n", "Subject: =?x?b?%%?=\n", "Content-Type: multipart/mixed; boundary=b\n", "Content-Type: text/html; charset=", "Content-Type: message/rfc822\n", "Content-Transfer-Encoding: base64\n", "--b\n", "--b--\n", "> ", ">> ", "From a@b Mon Jan 1 00:00:00 2024\n", "<p>a", "Content-Disposition: attachment; filename*=utf-8''%e9\n", "-----BEGIN PGP MESSAGE-----\n", "begin 644 x\n", "Date: x\n")  # fmt: skip
JSON = documents("{", "}", "[", "]", ",", ":", '"a"', '"\\u00e9\\n"', '"\\ud800"', "1", "-2.5e9", "null", '"', "\\", '"key": ', "{}", "[[", "9" * 300)  # fmt: skip
CODE = documents("def f():", "class A:", '"""', "'''", "    ", "{", "}", "function f() {", "/*", "*/", "//", "#", "int main(", ")", "\t", "[a]", "key:", "`", "fn x", "@dec", "#if")  # fmt: skip
SUBTITLES = documents("1\n", "00:00:01,000 --> 00:00:02,000\n", "WEBVTT", "<b>", "NOTE", "00:01.000 --> 00:02.000 align:start\n")  # fmt: skip


@given(RST)
def test_rst(data: bytes) -> None:
    lines_kept(load_rst, data)


@given(ORG)
def test_org(data: bytes) -> None:
    lines_kept(load_org, data)


@given(LATEX)
def test_latex(data: bytes) -> None:
    lines_kept(load_latex, data)


@given(MAN)
def test_man(data: bytes) -> None:
    lines_kept(load_man, data)


@given(MAIL)
def test_mail(data: bytes) -> None:
    loaded(load_mail, data)
    loaded(load_mbox, b"From a@b Mon Jan 1 00:00:00 2024\n" + data)


@given(JSON)
def test_json(data: bytes) -> None:
    loaded(load_json, data)
    lines_kept(load_jsonl, data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(VALUES.filter(lambda value: isinstance(value, list | dict)), st.sampled_from([None, 1]))
def test_json_as_it_is_written(value: object, indent: int | None) -> None:
    found = loaded(load_json, json.dumps(value, indent=indent).encode())
    assert found is not None
    assert not found.notes


CELLS = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["markdown", "code", "raw", "heading", 3, None]),
        "source": st.text(max_size=30) | st.lists(st.text(max_size=10) | st.none(), max_size=3),
        "input": st.text(max_size=10),
        "level": st.sampled_from([1, 7, "x", None]),
        "outputs": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "output_type": st.sampled_from(
                        ["stream", "error", "pyerr", "display_data", None]
                    ),
                    "text": st.text(max_size=10) | st.none(),
                    "data": st.dictionaries(st.sampled_from(["text/plain", "image/png"]), VALUES)
                    | st.none(),
                    "evalue": VALUES,
                },
            )
            | st.none(),
            max_size=3,
        )
        | st.none(),
    },
)


@given(
    st.one_of(
        JSON,
        st.builds(
            lambda cells, metadata: json.dumps({"cells": cells, "metadata": metadata}).encode(),
            st.lists(CELLS | st.none(), max_size=4),
            VALUES,
        ),
    )
)
def test_notebook(data: bytes) -> None:
    loaded(load_notebook, data, ".ipynb")


@given(CODE, st.sampled_from([".py", ".c", ".js", ".yaml", ".toml", ".css", ""]))
def test_code(data: bytes, ending: str) -> None:
    lines_kept(load_code, data, ending)


@given(SUBTITLES)
def test_subtitles(data: bytes) -> None:
    loaded(load_subtitles, data)


BIG = 20_000
PATHOLOGICAL: list[tuple[Loader, str, str]] = [
    (load_rst, "", ".. note::\n   " * BIG),
    (load_rst, "", ".. code::\n" * BIG),
    (load_rst, "", "=== ===\n" * BIG),
    (load_rst, "", "=== ===\nx\n\n" * BIG),
    (load_rst, "", "x::\n" * BIG),
    (load_rst, "", ".. [1] x\n" * BIG),
    (load_rst, "", "\n".join(" " * (n % 200) + ".. note:: x" for n in range(BIG))),
    (load_org, "", "#+begin_quote\n" * BIG),
    (load_org, "", ":PROPERTIES:\n" * BIG),
    (load_org, "", "* " * BIG),
    (load_latex, "", "\\label{" * BIG),
    (load_latex, "", "{" * BIG * 5),
    (load_latex, "", "\\begin{verbatim}" * BIG),
    (load_latex, "", "\\iffalse " * BIG),
    (load_latex, "", "\\verb|" * BIG),
    (load_latex, "", "\\section{" * BIG),
    (load_latex, "", "\\newcommand{\\a}[" * BIG),
    (load_latex, "", "[" * BIG * 5),
    (load_man, "", ".if n \\{" * BIG),
    (load_man, "", "\\f[" * BIG),
    (load_man, "", '.B "' + '"' * BIG),
    (load_man, "", ".TP\n" * BIG),
    (load_man, "", ".Op Fl " * BIG),
    (load_mail, "", "a: b\n" * BIG),
    (load_mail, "", "Content-Type: multipart/mixed; boundary=b\n\n" + "--b\n" * BIG),
    (load_mail, "", "Content-Type: message/rfc822\n\n" * 2000),
    (load_mail, "", "Subject: " + "=?utf-8?q?a?= " * BIG + "\n\nx"),
    (load_mail, "", "From: a\n\n" + "> x\ny\n" * BIG),
    (load_mail, "", "From: a\n\n" + "-----BEGIN PGP MESSAGE-----\n" * BIG),
    (load_mbox, "", "From a@b Mon Jan 1 00:00:00 2024\n\n\n" * 5000),
    (load_mbox, "", "From a 2024\n" * BIG),
    (load_json, "", "[" * BIG * 5 + "]" * BIG * 5),
    (load_json, "", '{"a":' * BIG),
    (load_json, "", '["' + "\\" * BIG * 5),
    (load_json, "", "[\n" * BIG),
    (load_json, "", "[" + '"x",\n' * BIG + "1]"),
    (load_jsonl, "", '{"a": 1}\n' * BIG),
    (load_notebook, "", "[" * BIG * 5),
    (load_code, ".py", "def f():\n" * BIG),
    (load_code, ".py", "@x\n" * BIG),
    (load_code, ".py", '"""' * BIG),
    (load_code, ".c", "a" * 300 + "\n" + ("a " * 190 + "(\n") * 2000),
    (load_code, ".c", "f(\n" * BIG),
    (load_code, ".c", "// x\n" * BIG),
    (load_code, ".js", "`" * BIG),
    (load_code, ".js", ("const " * 60 + "\n") * 2000),
    (load_code, ".js", "var a=1;" * BIG * 5),
    (load_subtitles, "", "00:00:01,000 --> 00:00:02,000\n" * BIG),
]  # fmt: skip


@pytest.mark.timeout(120)
@pytest.mark.parametrize("at", range(len(PATHOLOGICAL)))
def test_pathological_input_ends(at: int) -> None:
    """Twenty thousand repetitions: what is quadratic does not end in time."""
    load, ending, text = PATHOLOGICAL[at]
    with suppress(SourceError):
        load(text.encode(), ending)
