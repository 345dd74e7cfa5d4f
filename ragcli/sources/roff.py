"""What roff escapes print: `\\fB`, `\\-`, `\\(em`, `\\*(lq` and the like."""

from __future__ import annotations

import re
import unicodedata

_GLYPHS = {
    "em": "—", "en": "–", "hy": "-", "bu": "•", "lq": "“", "rq": "”", "oq": "‘", "cq": "’",
    "aq": "'", "dq": '"', "co": "©", "rg": "®", "tm": "™", "rs": "\\", "ti": "~", "ha": "^",
    "ga": "`", "aa": "´", "mu": "×", "di": "÷", "->": "→", "<-": "←", "<=": "≤", ">=": "≥",
    "!=": "≠", "+-": "±", "de": "°", "sc": "§", "ps": "¶", "Po": "£", "Eu": "€", "eu": "€",
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "/o": "ø", "/O": "Ø", "oa": "å",
    "oA": "Å", "-D": "Ð", "Tp": "þ", "fi": "fi", "fl": "fl", "ff": "ff", "Fo": "«", "Fc": "»",
    "fo": "‹", "fc": "›", "la": "⟨", "ra": "⟩", "at": "@", "sh": "#", "Do": "$", "ct": "¢",
    "12": "½", "14": "¼", "34": "¾", "S1": "¹", "S2": "²", "S3": "³", "if": "∞", "ba": "|",
    "or": "|", "br": "│", "rn": "‾", "ul": "_", "sq": "□", "ci": "○", "lh": "☜", "rh": "☞",
    "*a": "α", "*b": "β", "*g": "γ", "*d": "δ", "*e": "ε", "*l": "λ", "*m": "μ", "*p": "π",
    "*s": "σ", "mc": "µ", "pl": "+", "mi": "−", "eq": "=", "sl": "/", "r!": "¡", "r?": "¿",
    "lB": "[", "rB": "]", "lC": "{", "rC": "}", "bq": "‚", "Bq": "„", "a~": "~", "a^": "^",
    "integral": "∫", "sum": "∑", "sr": "√", "~~": "≈", "~=": "≅", "==": "≡",
}  # fmt: skip
_ACCENTS = {
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    ":": "\u0308",
    "~": "\u0303",
    ",": "\u0327",
}
_STRINGS = {"lq": "“", "rq": "”", "R": "®", "Tm": "™", "Lt": "<", "Gt": ">", "Aq": "'", "Am": "&",
            "Ba": "|", "-": "-"}  # fmt: skip
_SIGNS = {"-": "-", "e": "\\", "\\": "\\", " ": " ", "~": " ", "0": " ", "t": "\t", ".": ".",
          "'": "'", "`": "`", "_": "_"}  # fmt: skip
_NOTHING = "&|^/,:%cdurp{}a)"
_ESCAPE = re.compile(
    r"\\(?:"
    r"(?P<comment>[\"#].*)"
    r"|(?P<font>[fFkgMmnYVR])(?:\[[^\]]{0,60}\]|\([^\s]{2}|[^\s\[(])"
    r"|s(?:[+-]?\d|[+-]?\(\d\d|\[[+-]?\d+\]|'[+-]?\d+'|[+-]\(\d\d)"
    r"|\((?P<glyph>..)|\[(?P<name>[^\]\n]{0,60})\]"
    r"|\*(?:\((?P<string>..)|\[(?P<called>[^\]\n]{0,60})\]|(?P<one>.))"
    r"|[hvwlLDobxXZABNC](?P<mark>['\"])(?P<measure>[^'\"\n]{0,200})(?P=mark)"
    r"|z|(?P<sign>.)|$)"
)


def _glyph(name: str) -> str:
    if name in _GLYPHS:
        return _GLYPHS[name]
    if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha():
        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    if re.fullmatch(r"u[0-9A-F]{4,6}", name) and int(name[1:], 16) < 0x110000:
        return chr(int(name[1:], 16))
    return ""


def _shown(found: re.Match[str]) -> str:
    if (name := found.group("glyph") or found.group("name")) is not None:
        return _glyph(name)
    for group in ("string", "called", "one"):
        if (name := found.group(group)) is not None:
            return _STRINGS.get(name, "")
    sign = found.group("sign")
    if sign is None or sign in _NOTHING:
        return ""
    return _SIGNS.get(sign, sign)


def unescape(line: str) -> str:
    """A line of roff as it is printed; comments, fonts, sizes, colours and registers are gone."""
    return _ESCAPE.sub(_shown, line) if "\\" in line else line


_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s\\])+)')


def arguments(rest: str) -> list[str]:
    """The arguments of a request: words, or quoted with blanks in them. Not yet unescaped."""
    cut = re.split(r'\\["#]', rest, maxsplit=1)[0]
    return [quoted.replace('""', '"') or word for quoted, word in _ARGUMENT.findall(cut)]
