"""What the macros of mdoc (BSD manual pages) print, as near as plain words come."""

from __future__ import annotations

from ragcli.sources.roff import arguments, unescape

_PLAIN = (
    "Ar Cm Dv Em Er Ev Fa Fd Fr Ft Ic Li Ms No Pa Sx Sy Tn Va Vt An Ad Lb St Mt Lk Me Nd Ns Ap "
    "Pf Xo Xc Rv Ex Os Dd Bt Ud Db At Bx Fx Nx Ox Dx Ux Bsx Cd In D1 Dl %A %B %J %N %O %P %R %T %V %D %I"
)
_ENCLOSED = {
    "Op": ("[", "]"), "Oo": ("[", ""), "Oc": ("", "]"), "Aq": ("<", ">"), "Bq": ("[", "]"),
    "Brq": ("{", "}"), "Dq": ("“", "”"), "Qq": ('"', '"'), "Sq": ("‘", "’"), "Ql": ("‘", "’"),
    "Pq": ("(", ")"), "Po": ("(", ""), "Pc": ("", ")"), "Do": ("“", ""), "Dc": ("", "”"),
    "Qo": ('"', ""), "Qc": ("", '"'), "So": ("‘", ""), "Sc": ("", "’"), "Ao": ("<", ""),
    "Ac": ("", ">"), "Bo": ("[", ""), "Bc": ("", "]"), "Fn": ("", "()"), "Fo": ("", "("), "Fc": ("", ")"),
}  # fmt: skip
_BREAKS = frozenset({"Pp", "Lp", "It", "Bl", "El", "Rs", "Re", "D1", "Dl"})
_NAMES = {"Bx": "BSD", "Fx": "FreeBSD", "Nx": "NetBSD", "Ox": "OpenBSD", "Dx": "DragonFly",
          "Ux": "UNIX", "At": "AT&T UNIX", "Bsx": "BSD/OS"}  # fmt: skip
_SILENT = frozenset({"Pp", "Lp", "Bl", "El", "Rs", "Re", "Dd", "Os", "Xo", "Xc", "Bk", "Ek", "Sm"})
_KNOWN = frozenset(_PLAIN.split()) | set(_ENCLOSED) | _BREAKS | _SILENT | {"Fl", "Nm", "Xr"}
_CALLED = frozenset(_PLAIN.split()) - {"In"} | set(_ENCLOSED) | {"Fl", "Nm", "Xr"}
_PUNCTUATION = frozenset(".,;:?!)]")


class Mdoc:
    """Remembers the page's name, which `.Nm` repeats."""

    def __init__(self) -> None:
        self.name = ""

    @staticmethod
    def knows(name: str) -> bool:
        return name in _KNOWN

    @staticmethod
    def breaks(name: str) -> bool:
        """Whether a block ends before this macro."""
        return name in _BREAKS

    def printed(self, name: str, rest: str) -> str:
        """A macro line as words."""
        if name in _SILENT:
            return ""
        words = arguments(rest)
        if name == "It":
            return self._run(words)
        if name == "Nd":
            return "— " + self._run(words)
        if name == "In" and words:
            return f"<{unescape(words[0])}>" + "".join(map(unescape, words[1:]))
        return self._run([name, *words])

    def _run(self, words: list[str]) -> str:
        out = ""
        closing: list[str] = []
        glue = True  # nothing written yet, or no blank wanted
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if word in _CALLED:
                shown, at, no_blank = self._called(word, words, at, closing)
            else:
                shown, no_blank = unescape(word), False
            if not shown:
                glue = glue or no_blank
                continue
            out += shown if glue or (shown in _PUNCTUATION) else f" {shown}"
            glue = no_blank or shown in ("(", "[")
        return out + "".join(reversed(closing))

    def _called(
        self, macro: str, words: list[str], at: int, closing: list[str]
    ) -> tuple[str, int, bool]:
        """(what it prints, the next word, whether that follows without a blank)."""
        if macro in _ENCLOSED:
            opening, end = _ENCLOSED[macro]
            if opening:
                closing.append(end)
                return opening, at, True
            if macro == "Fn" and at < len(words):
                return (
                    f"{unescape(words[at])}({', '.join(map(unescape, words[at + 1 :]))})",
                    len(words),
                    False,
                )
            return end, at, False
        if macro == "Fl":
            return "-", at, True
        if macro == "Xr" and at + 1 < len(words):
            return f"{unescape(words[at])}({unescape(words[at + 1])})", at + 2, False
        if macro == "Nm":
            return self._named(words, at)
        if macro in ("Ns", "Pf", "Ap"):
            return ("'" if macro == "Ap" else ""), at, True
        return _NAMES.get(macro, ""), at, False

    def _named(self, words: list[str], at: int) -> tuple[str, int, bool]:
        given = at < len(words) and words[at] not in _CALLED and words[at] not in _PUNCTUATION
        if given:
            self.name = self.name or unescape(words[at])
            return unescape(words[at]), at + 1, False
        return self.name, at, False
