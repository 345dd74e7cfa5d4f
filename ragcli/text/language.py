"""Which language a text is in: scripts first, then function words. No model, no dependency."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from ragcli.text.stopwords import STOP_WORDS

_SAMPLE = 6000  # code points read from each of three places
_WORD = re.compile(r"[^\W\d_]+")
_UNREADABLE = re.compile(r"(?<![!-~])[!-~]{60,}")  # base64 and URLs have no language
# Scripts that settle the language, as ranges of code points.
_SCRIPTS: dict[str, str] = {
    "kana": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d",
    "han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f",
    "ko": "\uac00-\ud7af\u1100-\u11ff\u3130-\u318f",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "km": "\u1780-\u17ff",
    "my": "\u1000-\u109f",
    "arabic": "\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff",
    "he": "\u0590-\u05ff",
    "el": "\u0370-\u03ff\u1f00-\u1fff",
    "hy": "\u0530-\u058f",
    "ka": "\u10a0-\u10ff",
    "am": "\u1200-\u137f",
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "ta": "\u0b80-\u0bff",
    "cyrillic": "\u0400-\u04ff",
    "latin": "A-Za-z\u00aa-\u024f\u1e00-\u1eff",
}
_LETTERS = {name: re.compile(f"[{ranges}]") for name, ranges in _SCRIPTS.items()}
_CYRILLIC = ("ru", "uk", "bg")
# Letters that one language of a close pair has and the others lack.
_TELLING: dict[str, str] = {
    "de": "ß", "es": "ñ¿¡", "pt": "ãõ", "fr": "œçèê", "pl": "łąęśźżń", "cs": "řěů", "hu": "őű",
    "ro": "șțăşţ", "tr": "ğış", "sv": "ä", "da": "æ", "no": "æ", "uk": "іїєґ", "ru": "ыэ",
    "bg": "щъ", "ca": "ŀ",
}  # fmt: skip


def _sample(text: str) -> str:
    if len(text) > 3 * _SAMPLE:
        middle = len(text) // 2
        text = f"{text[:_SAMPLE]} {text[middle : middle + _SAMPLE]} {text[-_SAMPLE:]}"
    return _UNREADABLE.sub(" ", text)


def _by_words(sample: str, languages: tuple[str, ...]) -> str:
    """The language whose function words cover the most words; "" if none stands out."""
    words = Counter(_WORD.findall(sample))
    letters = Counter(sample)
    total = sum(words.values())
    scores = {
        language: sum(n for word, n in words.items() if word in STOP_WORDS[language])
        + sum(letters[char] for char in _TELLING.get(language, "")) * 0.5
        for language in languages
    }
    best, second = sorted(scores.values(), reverse=True)[:2]
    # One function word in eight, and more than any other language has.
    if total == 0 or best < 1 or best * 8 < total or best == second:
        return ""
    found = max(scores, key=lambda language: scores[language])
    if total >= 8 and sum(word in STOP_WORDS[found] for word in words) < 2:
        return ""  # the same word again and again: data, not language
    return found


_LATIN = tuple(language for language in STOP_WORDS if language not in _CYRILLIC)


def detect(text: str) -> str:
    """The main language as ISO 639-1, "" when unsure. Reads at most 18,000 code points."""
    sample = _sample(text)
    if sample.isascii():
        return _by_words(sample.casefold(), _LATIN)
    sample = unicodedata.normalize("NFC", sample).casefold()
    counts = {name: len(pattern.findall(sample)) for name, pattern in _LETTERS.items()}
    script, most = max(counts.items(), key=lambda item: item[1])
    # A CJK character says about as much as two or three letters of an alphabet.
    cjk = counts["han"] + counts["kana"] + counts["ko"]
    if cjk and cjk * 3 >= counts["latin"]:
        if counts["kana"] * 10 >= cjk:
            return "ja"
        return "ko" if counts["ko"] * 5 >= cjk else "zh"
    if not most:
        return ""
    if script == "latin":
        return _by_words(sample, _LATIN)
    if script == "cyrillic":
        return _by_words(sample, _CYRILLIC)
    if script == "arabic":
        if re.search("[ٹڈڑں]", sample):
            return "ur"
        return "fa" if re.search("[پچژگی]", sample) else "ar"
    return script
