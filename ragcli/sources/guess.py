"""Which old encoding bytes are in, where nothing says it: scripts first, then a library's guess.

The library (charset-normalizer) is good with long texts. What it takes short ones for is
checked here by what text in an encoding looks like: kana, common Chinese characters,
Russian words, the letters of a language.
"""

from __future__ import annotations

import re

from ragcli.text.language import detect

_GUESS_BYTES = 48_000  # enough for a guess; the guesser's time grows with it
_HIGH = re.compile(rb"[\x80-\xff]")
_RUN = re.compile(rb"[\x80-\xff]+")
# Told by their bytes, or of mainframes and old printers: never guessed.
_UNLIKELY = (
    "utf_7 utf_16 utf_16_le utf_16_be utf_32 utf_32_le utf_32_be cp037 cp1026 cp1140 cp273 cp424 "
    "cp500 cp875 cp1006 cp864 hp_roman8 hz iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 "
    "iso2022_jp_3 iso2022_jp_ext iso2022_kr"
)
_NEVER = _UNLIKELY.split()
_CYRILLIC = ("cp1251", "koi8_r", "cp866", "iso8859_5")
_LATIN = ("cp1252", "cp1250", "iso8859_2", "cp1254", "mac_roman", "cp850")
_CYRILLIC_WORD = re.compile(r"[Ѐ-ӿ]+")
_RUSSIAN = frozenset("абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґў")  # and Ukrainian, Bulgarian
_CYRILLIC_VOWELS = frozenset("аеёиоуыэюяъіїєў")
_WRITTEN = re.compile(r"[Ѐ-Я]?[а-ӿ]+|[Ѐ-Я]+")  # Word, word, WORD; not wORd
_MIXED_WORD = re.compile(r"[A-Za-z][Ѐ-ӿ]|[Ѐ-ӿ][A-Za-z]")
# Letters beyond a-z by language; what prints well in any of them.
_ALPHABETS = {
    "de": "äöüß", "fr": "àâæçéèêëîïôœùûüÿ", "es": "áéíñóúü¿¡ªº", "it": "àèéìíîòóùú",
    "pt": "ãõáâàçéêíóôúüªº", "nl": "áäèéëïíóöüê", "sv": "åäöé", "da": "æøåé", "no": "æøåéòô",
    "fi": "äöåšž", "ca": "àçèéíïòóúü·", "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž",
    "hu": "áéíóöőúüű", "ro": "ăâîșțşţ", "tr": "çğıiöşüâîû", "en": "éèïöçñü",
}  # fmt: skip
_FITS = 0.8
_PRINTED = frozenset("“”„‚‘’–—…•«»‹›§©®°€£™†\u00a0")


def guess(data: bytes) -> tuple[str, str]:
    """(text, encoding as Python names it) of bytes that are no UTF-8. Never fails."""
    first = _HIGH.search(data)
    start = max(0, first.start() - 2000) if first else 0
    sample = data[start : start + _GUESS_BYTES]
    name = _cyrillic(sample, _CYRILLIC) or _east_asian(sample) or _latin(sample, _libraries(sample))
    return data.decode(name, "replace"), name


def _libraries(sample: bytes) -> str:
    import charset_normalizer

    best = charset_normalizer.from_bytes(sample, cp_exclusion=list(_NEVER)).best()
    return best.encoding if best is not None else "cp1252"


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _cyrillic(sample: bytes, encodings: tuple[str, ...]) -> str:
    """The encoding in which the sample is Russian or its kin, "" for none."""
    return next((name for name in encodings if _is_russian(sample, name)), "")


def _is_russian(sample: bytes, encoding: str) -> bool:
    """Whether there are words in it, of vowels and consonants, capitals only where they belong.

    In the wrong encoding of the same letters, capitals and small letters change places.
    """
    text = sample.decode(encoding, "replace")
    words = _CYRILLIC_WORD.findall(text)
    letters = "".join(words)
    high = sum(char > "\x7f" and char not in _PRINTED for char in text)
    if len(letters) < 6 or len(letters) < 0.95 * high or _MIXED_WORD.search(text):
        return False
    small = sum(map(str.islower, letters))
    written = sum(len(word) for word in words if _WRITTEN.fullmatch(word))
    vowels = sum(char in _CYRILLIC_VOWELS for char in letters.lower())
    return (
        sum(char in _RUSSIAN for char in letters.lower()) >= 0.95 * len(letters)
        and small > 0.6 * len(letters)
        and written >= 0.95 * len(letters)
        and 0.3 <= vowels / len(letters) <= 0.6
    )


def _east_asian(sample: bytes) -> str:
    """EUC-JP by its kana, GB 18030 by its common characters; "" where neither is sure.

    Both write a character as two bytes from A1 on, so that runs of such bytes are even.
    """
    runs = _RUN.findall(sample)
    if len(sample) == _GUESS_BYTES:
        runs = runs[1:-1]  # cut
    if any(len(run) % 2 or min(run) < 0xA1 or max(run) > 0xFE for run in runs):
        return ""
    leads = [run[at] for run in runs for at in range(0, len(run), 2)]
    if len(leads) < 4:
        return ""
    kana = sum(lead in (0xA4, 0xA5) for lead in leads)
    if kana >= 0.2 * len(leads):
        return "euc_jp" if _strict(b" ".join(runs), "euc_jp") is not None else ""
    characters = [lead for lead in leads if lead >= 0xB0]
    common = sum(lead <= 0xD7 for lead in characters)
    beyond_korean = sum(lead > 0xC8 for lead in characters)
    is_chinese = (
        len(characters) >= 0.6 * len(leads)
        and all(lead >= 0xB0 or lead in (0xA1, 0xA2, 0xA3) for lead in leads)
        and common >= 0.85 * len(characters)
        and beyond_korean >= 0.1 * len(characters)
    )
    return "gb18030" if is_chinese and _strict(b" ".join(runs), "gb2312") is not None else ""


def _latin(sample: bytes, guessed: str) -> str:
    """Of close relatives that guesses confuse, the one that gives a language its letters."""
    if not _is_latin(sample.decode(guessed, "replace")):
        is_western = _strict(sample, "cp1252") is not None and _fit(sample, "cp1252") >= _FITS
        return "cp1252" if is_western else guessed
    scores = {name: _fit(sample, name) for name in (*_LATIN, guessed)}
    best = max(scores, key=lambda name: scores[name])  # the first of equals
    return best if scores[best] >= _FITS else guessed


def _is_latin(text: str) -> bool:
    beyond = [char for char in text if char > "\x7f" and char.isalpha()]
    return 2 * sum(char < "\u0250" for char in beyond) >= len(beyond)


def _fit(sample: bytes, encoding: str) -> float:
    """Share of the characters beyond ASCII that the language of the text has; 0 without one."""
    text = sample.decode(encoding, "replace")
    alphabet = _ALPHABETS.get(detect(text), "")
    beyond = [char for char in text if char > "\x7f"]
    if not alphabet or not beyond:
        return 0.0
    return sum(char.lower() in alphabet or char in _PRINTED for char in beyond) / len(beyond)
