"""Numbers of a spreadsheet as its reader sees them, by the cell's number format. Pure.

Covers what cells have: decimals, thousands, percent, currency, leading zeros, groups of
digits, dates, times, durations. Years are written in full, whatever the format says,
and month names in English; fractions and conditions are shown as plain numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

DATE = "yyyy-mm-dd"
_BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "General", 13: "General", 14: DATE, 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss",
    22: f"{DATE} hh:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0", 39: "#,##0.00;-#,##0.00",
    40: "#,##0.00;-#,##0.00", 41: "#,##0", 42: "#,##0", 43: "#,##0.00", 44: "#,##0.00",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss", 48: "0.0E+0", 49: "@",
    **dict.fromkeys([*range(27, 32), 36, *range(50, 59)], DATE), 32: "h:mm", 33: "h:mm:ss",
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|\[(?P<elapsed>h+|m+|s+)\]|\[(?P<bracket>[^\]]*)\]|(?P<general>General)"
    r"|(?P<half>AM/PM|A/P)|(?P<number>[#0?][#0?,]*(?:\.[#0?]*)?,*|\.[#0?]+)(?P<exponent>E[+-][0#]+)?"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|e+|g+|b+)|(?P<text>@)|(?P<percent>%)|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\])*)(?:;|$)')
_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]  # fmt: skip
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_LONGEST = 250  # characters of a format


@dataclass(frozen=True, slots=True)
class _Section:
    """Tokens (kind, text) of one part of a format; `is_plain` where it is not understood."""

    tokens: tuple[tuple[str, str], ...]
    is_date: bool = False
    is_plain: bool = False

    @property
    def literals(self) -> str:
        return "".join(text for kind, text in self.tokens if kind == "literal")


def built_in(number: int) -> str:
    """The format of a number that the standard gives to a format."""
    return _BUILT_IN.get(number, "General")


def _section(code: str) -> _Section:
    tokens: list[tuple[str, str]] = []
    plain = False
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        text = match.group(kind) if kind else ""
        if kind in ("quoted", "escaped", "currency"):
            kind = "literal"
        if kind == "bracket":
            plain |= text[:1] in ("<", ">", "=")
            continue
        if kind == "exponent":
            tokens.append(("number", match.group("number")))
        if kind:
            tokens.append((kind, text))
    kinds = [kind for kind, _ in tokens]
    plain |= ("literal", "/") in tokens and "number" in kinds and "date" not in kinds
    is_date = "number" not in kinds and ("date" in kinds or "elapsed" in kinds)
    return _Section(tuple(tokens), is_date, plain)


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[_Section, ...]:
    parts = [match.group(1) for match in _SECTION.finditer(code[:_LONGEST])]
    return tuple(map(_section, parts[:-1] if len(parts) > 1 and not parts[-1] else parts))


def plain(value: float) -> str:
    """A number without a format: at most 15 digits, as spreadsheets keep them."""
    if abs(value) < 1e15 and value == int(value):  # infinite after a percent format
        return str(int(value))
    return f"{value:.15g}"


def show(value: float, code: str, *, from_1904: bool = False) -> str:
    """A finite number in a format ("#,##0.00 €", "dd.mm.yyyy")."""
    sections = _sections(code or "General")
    negative = value < 0
    section = sections[0]
    if len(sections) > 1 and negative:
        section = sections[1]
    elif len(sections) > 2 and value == 0:
        section = sections[2]
    if section.is_plain:
        return plain(value)
    if section.is_date:
        return _date(value, section, from_1904) or plain(value)
    kinds = {kind for kind, _ in section.tokens}
    if "general" in kinds or "text" in kinds or not kinds:
        return plain(value)
    text = _number(abs(value), section).strip()
    if not any(map(str.isalnum, text)) and not (value == 0 and text):
        return plain(value)
    signed = section is not sections[0] and any(sign in section.literals for sign in "-(")
    return f"-{text}" if negative and not signed and any(c in "123456789" for c in text) else text


def _number(value: float, section: _Section) -> str:
    masks = [text for kind, text in section.tokens if kind == "number"]
    if not masks:
        return section.literals
    value *= 100 ** sum(kind == "percent" for kind, _ in section.tokens)
    exponent = any(kind == "exponent" for kind, _ in section.tokens)
    if len(masks) > 1 and not exponent and not any("." in mask for mask in masks):
        digits = iter(_grouped(value, masks))
    else:
        digits = iter([_masked(value, masks[0], exponent), *[""] * len(masks)])
    out: list[str] = []
    for kind, text in section.tokens:
        if kind == "number":
            out.append(next(digits))
        elif kind in ("literal", "percent"):
            out.append(text)
    return "".join(out)


def _masked(value: float, mask: str, exponent: bool) -> str:
    """One number by a mask such as "#,##0.0#"."""
    stripped = mask.rstrip(",")
    value /= 1000.0 ** (len(mask) - len(stripped))
    whole, _, fraction = stripped.partition(".")
    if exponent:
        return f"{value:.{len(fraction)}E}"
    text = f"{value:{',' if ',' in whole else ''}.{min(len(fraction), 30)}f}"
    before, _, after = text.partition(".")
    needed = len(fraction.rstrip("#?"))
    after = after[:needed] + after[needed:].rstrip("0")
    zeros = whole.count("0")
    if before == "0" and not zeros:
        before = ""
    return before.zfill(zeros if "," not in whole else 0) + (f".{after}" if after else "")


def _grouped(value: float, masks: list[str]) -> list[str]:
    """Digits dealt out to several masks from the right: "000-00-0000"."""
    wanted = "".join(masks).replace(",", "")
    digits = str(round(value)) if value < 1e15 else plain(value)
    digits = digits.zfill(wanted.count("0"))
    out: list[str] = []
    for mask in reversed(masks[1:]):
        size = len(mask.replace(",", ""))
        out.append(digits[-size:] if size else "")
        digits = digits[:-size] if size else digits
    return [digits, *reversed(out)]


def _moment(value: float, from_1904: bool) -> datetime | None:
    start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30)
    if not from_1904 and value < 60:
        start += timedelta(days=1)  # spreadsheets believe in 29 February 1900
    try:
        return start + timedelta(seconds=round(value * 86400))
    except OverflowError:
        return None


def _date(value: float, section: _Section, from_1904: bool) -> str:
    """ "" for what is no date."""
    if value < 0 and not any(kind == "elapsed" for kind, _ in section.tokens):
        return ""
    moment = _moment(abs(value), from_1904)
    if moment is None:
        return ""
    half = any(kind == "half" for kind, _ in section.tokens)
    seconds = round(abs(value) * 86400)
    out: list[str] = []
    for at, (kind, text) in enumerate(section.tokens):
        if kind == "date":
            minutes = text[0] in "mM" and len(text) < 3 and _is_minute(section.tokens, at)
            out.append(_date_part(moment, text.lower(), minutes, half))
        elif kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[text[0].lower()]
            out.append(("-" if value < 0 else "") + str(seconds // unit).zfill(len(text)))
        elif kind == "half":
            out.append("AM" if moment.hour < 12 else "PM")
        elif kind == "literal":
            out.append(text)
    return "".join(out).strip()


def _is_minute(tokens: tuple[tuple[str, str], ...], at: int) -> bool:
    """Whether an m stands for minutes: after hours or before seconds."""
    timed = [(i, text[0].lower()) for i, (kind, text) in enumerate(tokens) if kind in ("date", "elapsed")]  # fmt: skip
    order = [i for i, _ in timed].index(at)
    before = timed[order - 1][1] if order else ""
    after = timed[order + 1][1] if order + 1 < len(timed) else ""
    return before == "h" or after == "s"


def _date_part(moment: datetime, code: str, minutes: bool, half: bool) -> str:
    first, size = code[0], len(code)
    if first in "ye":
        return str(moment.year)
    if first in "gb":
        return ""
    if minutes:
        return str(moment.minute).zfill(size)
    if first == "m":
        name = _MONTHS[moment.month - 1]
        return str(moment.month).zfill(size) if size < 3 else name[:3] if size == 3 else name
    if first == "d":
        name = _DAYS[moment.weekday()]
        return str(moment.day).zfill(size) if size < 3 else name[:3] if size == 3 else name
    if first == "h":
        return str((moment.hour - 1) % 12 + 1 if half else moment.hour).zfill(size)
    return str(moment.second).zfill(min(size, 2))
