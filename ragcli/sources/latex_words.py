"""What LaTeX macros say: symbols (from pylatexenc's table), accents, and arguments that say nothing.

The only import of pylatexenc, for its table alone: its parser recurses into groups and
gives no lines.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip
# Heading macros, outermost first.
LEVELS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5,
          "paragraph": 6, "subparagraph": 7, "frametitle": 4}  # fmt: skip
# How many {…} arguments after a macro are not text.
_ONE = (
    "label vspace hspace includegraphics input include usepackage bibliography bibliographystyle "
    "pagestyle thispagestyle documentclass documentstyle hypersetup captionsetup index phantom vphantom "
    "hphantom color cline cmidrule graphicspath addbibresource nocite usetikzlibrary lstset setcounter "
    "newcounter stepcounter refstepcounter pagenumbering theoremstyle newif rowcolor cellcolor columncolor "
    "textcolor href hypertarget hyperlink newacronym glsresetall keywordstyle definecolor bibitem "
    "institute orcid email date subfile import includepdf selectlanguage fontsize linespread "
    "lstinputlisting inputminted raisebox makebox parbox minipage colorbox thanks foreignlanguage vskip"
)
_TWO = (
    "setlength addtolength newtheorem multicolumn multirow DeclareMathOperator resizebox scalebox "
    "addcontentsline newcolumntype fcolorbox newlength ifthenelse markboth titleformat"
)
SILENT_ARGUMENTS = {
    **dict.fromkeys(_ONE.split(), 1),
    **dict.fromkeys(_TWO.split(), 2),
    "definecolor": 3, "addcontentsline": 3, "fontsize": 2, "setcounter": 2, "scalebox": 1,
    "newlength": 1,
}  # fmt: skip
# Their argument names another place: shown in brackets.
REFERENCES = frozenset(
    ("ref", "eqref", "autoref", "cref", "Cref", "pageref", "nameref", "vref", "gls", "Gls", "glspl")
)
SILENT_ENVIRONMENTS = frozenset(
    ("comment", "filecontents", "filecontents*", "tikzpicture", "pgfpicture", "picture", "CCSXML")
)
CODE_ENVIRONMENTS = frozenset(
    ("verbatim", "verbatim*", "Verbatim", "lstlisting", "minted", "alltt", "BVerbatim", "semiverbatim")
)  # fmt: skip
TABLES = frozenset(
    (
        "tabular",
        "tabular*",
        "tabularx",
        "tabulary",
        "xtabular",
        "supertabular",
        "longtable",
        "array",
        "tabu",
        "tblr",
    )
)
# Environments with arguments that are not text.
ENVIRONMENT_ARGUMENTS = {"tabular": 1, "tabular*": 2, "tabularx": 2, "longtable": 1, "array": 1,
                         "tabulary": 2, "xtabular": 1, "supertabular": 1, "minipage": 1, "multicols": 1, "thebibliography": 1, "wrapfigure": 2,
                         "list": 2, "adjustbox": 1, "subfigure": 1, "tblr": 1}  # fmt: skip
_OWN = {
    "%": "%", "&": "&", "_": "_", "#": "#", "$": "$", "{": "{", "}": "}", " ": " ", "\\": " ",
    "-": "", "/": "", ",": " ", ";": " ", ":": " ", "!": "", "@": "", "LaTeX": "LaTeX", "TeX": "TeX",
    "quad": " ", "qquad": " ", "S": "§", "P": "¶", "eg": "e.g.", "ie": "i.e.", "etal": "et al.",
    "item": "- ", "i": "ı", "j": "ȷ", "left": "", "right": "", "sum": "∑", "prod": "∏", "int": "∫",
    "sqrt": "√", "log": "log", "exp": "exp", "max": "max", "min": "min", "arg": "arg", "sin": "sin",
    "cos": "cos", "lim": "lim", "ln": "ln", "sup": "sup", "inf": "inf", "Pr": "Pr", "dim": "dim",
    "|": "‖", "textbackslash": "\\", "newline": " ", "linebreak": " ", "to": "→", "cdot": "·",
}  # fmt: skip


@cache
def symbol(name: str) -> str:
    """What a macro without arguments prints; "" for unknown ones."""
    if name in _OWN:
        return _OWN[name]
    spec = _table().get_macro_spec(name)
    shown = spec.simplify_repl if spec is not None else None
    return shown if isinstance(shown, str) and "%" not in shown and "<" not in shown else ""


@cache
def _table() -> Any:
    from pylatexenc.latex2text import get_default_latex_context_db

    return get_default_latex_context_db()


def accented(base: str, accent: str) -> str:
    """A letter under an accent macro, composed."""
    letter = {"ı": "i", "ȷ": "j"}.get(base, base)
    return unicodedata.normalize("NFC", letter + ACCENTS[accent])
