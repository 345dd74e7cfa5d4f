"""Elements of a page that nest too deep, taken out before it is parsed.

For each element that opens, an HTML parser looks through those that are open: its time grows
with the square of the depth. Browsers stop at 512 levels too.
"""

from __future__ import annotations

import re
from collections import Counter

DEEPEST = 500  # elements open at a time
_SPACE = r"[ \t\n\f\r]"
_VALUE = r"(?:\"[^\"]*+\"|'[^']*+'|[^ \t\n\f\r>\"'][^ \t\n\f\r>]*+)"
_TAG = re.compile(
    rf"<(?:(?P<comment>!--)|(?P<close>/?)(?P<name>[A-Za-z][^ \t\n\f\r/>]*+)"
    rf"(?:[ \t\n\f\r/]++|[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+(?:{_SPACE}*+={_SPACE}*+{_VALUE}?+)?+)*+>?)"
)
_VOID = "area base br col embed hr img input link meta param source track wbr keygen basefont bgsound frame"
# Their end tags may be left out: another of its kind, or what they are in, ends them.
_ENDLESS = "p li dt dd tr td th thead tbody tfoot caption colgroup option optgroup rt rp rb rtc html head body"
_UNCOUNTED = frozenset(f"{_VOID} {_ENDLESS}".split())
_RAW = {
    name: re.compile(f"</{name}(?=[ \\t\\n\\f\\r/>])", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes")
}
_COMMENT_END = re.compile("-->")
_FOREIGN = ("svg", "math")
# Left open, these are opened again in every block that follows.
_FORMATTING_NAMES = "b big code em font i s small strike strong tt u"
_FORMATTING = frozenset(_FORMATTING_NAMES.split())
_ACTIVE = 4  # of those that are left open
_INLINE_NAMES = "a abbr acronym cite del dfn ins kbd mark nobr q span sub sup"
_INLINE = _FORMATTING | frozenset(_INLINE_NAMES.split())


class _Pruner:
    """One pass over the tags; says which go."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.open: list[str] = []
        self.counts: Counter[str] = Counter()  # of the open elements
        self.dropped: Counter[str] = Counter()  # of those whose tag went, until they end
        self.active: Counter[str] = Counter()  # of formatting elements
        self.unended: set[str] = set()  # raw text and comments that have no end further on
        self.too_deep = False

    def run(self) -> str:
        kept: list[str] = []
        at = done = 0
        while found := _TAG.search(self.text, at):
            at = found.end()
            name = (found.group("name") or "!--").lower()
            if found.group("comment"):
                at = self._past(_COMMENT_END, name, at)
            elif self._goes(name, found):
                kept += (self.text[done : found.start()], "" if name in _INLINE else " ")
                done = at
            elif name in _RAW and not found.group("close") and not self._foreign():
                at = self._past(_RAW[name], name, at)
        return "".join((*kept, self.text[done:]))

    def _past(self, end: re.Pattern[str], name: str, at: int) -> int:
        """Where the end of a comment or raw text is; `at` if there is none."""
        found = None if name in self.unended else end.search(self.text, at)
        if found is None:
            self.unended.add(name)
        return found.start() if found is not None else at

    def _foreign(self) -> bool:
        return any(self.counts[name] for name in _FOREIGN)

    def _goes(self, name: str, tag: re.Match[str]) -> bool:
        """Whether a tag is taken out."""
        if name in _UNCOUNTED:
            return False
        if name in _FORMATTING:
            return self._formats(name, closing=bool(tag.group("close")))
        if tag.group("close"):
            return self._close(name)
        if tag.group().endswith("/>") and self._foreign():
            return False
        if len(self.open) >= DEEPEST:
            self.dropped[name] += 1
            self.too_deep = True
            return True
        self.open.append(name)
        self.counts[name] += 1
        return False

    def _formats(self, name: str, *, closing: bool) -> bool:
        if closing:
            self.active[name] -= self.active[name] > 0
            return False
        if self.active.total() >= _ACTIVE:
            return True
        self.active[name] += 1
        return False

    def _close(self, name: str) -> bool:
        """Ends an element, and those in it that were left open."""
        if self.dropped[name]:
            self.dropped[name] -= 1
            return True
        while self.counts[name]:
            last = self.open.pop()
            self.counts[last] -= 1
            if last == name:
                break
        return False


def bounded(text: str) -> tuple[str, bool]:
    """(the page without the tags of elements that nest too deep, whether any did).

    Linear in the text. No words are lost: they are in the deepest element that stays.
    """
    if text.count("<") <= _ACTIVE:
        return text, False
    pruner = _Pruner(text)
    pruned = pruner.run()
    return pruned, pruner.too_deep
