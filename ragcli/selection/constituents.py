"""The syntactic constituents of a question (paper 004, eq. 1). Pure.

By rules: question words, auxiliaries, prepositions, verbs and commas cut an English question
into phrases; another language is cut at its function words. A constituent is always a span of
the question. Auxiliaries, link verbs and bare determiners are none: there is nothing in a
document to align them with. A question word is one where what it asks for can be recognised
in a text (a time, a number, a name).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragcli.selection import grammar
from ragcli.text.stopwords import STOP_WORDS
from ragcli.text.words import words
from ragcli.types import Constituent, ConstituentKind, Expected

KINDS: tuple[ConstituentKind, ...] = (
    "subject", "predicate", "object", "predicative", "attribute", "adverbial", "complement",
    "apposition",
)  # fmt: skip
MOST = 12  # constituents; what a long question says beyond them is left out

_TOKEN = re.compile(r"[^\W_]+(?:[-'’.+#/]+[^\W_]+)*[+#]*|[,;:()]")
_MOST_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Token:
    """A word or mark of a question; `folded` is NFKC and case folded."""

    text: str
    folded: str
    start: int
    end: int

    @property
    def mark(self) -> bool:
        return self.text in ",;:()"


@dataclass(slots=True)
class _Chunk:
    kind: ConstituentKind
    tokens: list[Token] = field(default_factory=list)
    expects: Expected = "any"


def constituents(question: str, language: str = "en") -> tuple[Constituent, ...]:
    """The constituents present, in question order; their spans do not overlap.

    Empty for a question without content. Linear in its length.
    """
    tokens = tokenise(question)
    if language in ("en", ""):
        chunks = _English(tokens).chunks()
    else:
        chunks = _by_function_words(tokens, language)
    found = [
        _constituent(chunk, question) for chunk in chunks if _counts(chunk, question, language)
    ]
    return tuple(sorted(found, key=lambda one: one.start)[:MOST])


def tokenise(question: str) -> list[Token]:
    """Words and marks, the first few hundred."""
    return [
        Token(match.group(), _fold(match.group()), *match.span())
        for match, _ in zip(_TOKEN.finditer(question), range(_MOST_TOKENS), strict=False)
    ]


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _constituent(chunk: _Chunk, question: str) -> Constituent:
    start, end = chunk.tokens[0].start, chunk.tokens[-1].end
    return Constituent(chunk.kind, question[start:end], start, end, chunk.expects)


def _counts(chunk: _Chunk, question: str, language: str) -> bool:
    """Whether there is something to look for: a content word that is not a mere "name", "reason"."""
    if not chunk.tokens:
        return False
    if chunk.expects != "any":
        return True
    said = words(question[chunk.tokens[0].start : chunk.tokens[-1].end], language or "en")
    return any(
        word.kind != "stop" and word.text.casefold() not in grammar.LIGHT | grammar.WH
        for word in said
    )


def _content(token: Token, language: str = "en") -> bool:
    """Whether a word means something by itself."""
    word = token.folded
    if token.mark or word in STOP_WORDS.get(language or "en", STOP_WORDS["en"]):
        return False
    return language not in ("en", "") or not (
        word in grammar.WH or word in grammar.AUXILIARIES or word in grammar.DETERMINERS
        or word in grammar.PREPOSITIONS
    )  # fmt: skip


def _by_function_words(tokens: Sequence[Token], language: str) -> list[_Chunk]:
    """Runs of content words; the first is the subject, one with a digit an adverbial."""
    chunks: list[_Chunk] = []
    open_run = False
    for token in tokens:
        if not _content(token, language):
            open_run = False
            continue
        if not open_run:
            chunks.append(_Chunk("object" if chunks else "subject"))
            open_run = True
        chunks[-1].tokens.append(token)
    for chunk in chunks[1:]:
        if any(t.text[0].isdigit() for t in chunk.tokens):
            chunk.kind = "adverbial"
    return chunks


class _English:
    """One pass over the tokens of an English question, cutting it into phrases."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._done: list[_Chunk] = []
        self._open = _Chunk("subject")
        self._aux = ""  # "", "be", "do", "other"
        self._asked = ""  # the question word at the front
        self._verb: Token | None = None

    def chunks(self) -> list[_Chunk]:
        self._skip_fillers()
        self._question_phrase()
        while self._at < len(self._tokens):
            self._step(self._tokens[self._at])
        self._close()
        self._late_verb()
        self._settle_subject()
        return self._done

    def _peek(self, ahead: int = 0) -> Token | None:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else None

    def _word(self, ahead: int = 0) -> str:
        token = self._peek(ahead)
        return token.folded if token is not None else ""

    def _close(self, kind: ConstituentKind | None = None) -> None:
        """Ends the phrase at hand and opens one of `kind`, or of the kind that is due."""
        if self._open.tokens:
            self._done.append(self._open)
        self._open = _Chunk(kind or self._due())

    def _due(self) -> ConstituentKind:
        if self._verb is not None:
            return "complement" if self._verb.folded in grammar.NAMING else "object"
        return "subject"

    def _skip_fillers(self) -> None:
        """ "Please tell me when …" asks when."""
        at = 0
        while at < len(self._tokens) and (
            self._tokens[at].folded in grammar.FILLERS or self._tokens[at].mark
        ):
            at += 1
        following = self._at_word(at)
        if following in grammar.WH:
            self._at = at
        elif following in ("whether", "if"):
            self._at = at + 1

    def _question_phrase(self) -> None:
        lead = 1 if self._word() in grammar.PREPOSITIONS and self._word(1) in grammar.WH else 0
        word = self._word(lead)
        if word not in grammar.WH:
            return
        self._asked = word
        end = self._at + lead + 1
        end = self._phrase_end(word, end)
        taken = list(self._tokens[self._at : end])
        rest = [t.folded for t in taken[lead + 1 :]]
        self._at = end
        kind = self._question_kind("which" if len(rest) > 1 else word, lead)
        chunk = _Chunk(kind, taken, _expected(word, rest))
        if (
            word not in ("what", "which", "whose", "how")
            or set(rest) - grammar.MEASURES
            or chunk.expects != "any"
        ):
            self._done.append(chunk)
        if self._word() and not self._aux_next() and self._is_predicate(self._peek()):
            self._take_verb()

    def _phrase_end(self, word: str, end: int) -> int:
        """Where "which city", "how many of", "what year" ends."""
        if word not in ("what", "which", "whose", "how"):
            return end
        if word == "how" and self._at_word(end) not in grammar.MEASURES:
            return end
        start = end
        while end < len(self._tokens) and self._nominal(end, first=end == start):
            end += 1
        return end

    def _at_word(self, at: int) -> str:
        return self._tokens[at].folded if at < len(self._tokens) else ""

    def _nominal(self, at: int, *, first: bool) -> bool:
        """Whether the token goes on with "which …" rather than being the verb after it."""
        token = self._tokens[at]
        word, following = token.folded, self._at_word(at + 1)
        if token.mark or word in grammar.AUXILIARIES or word in grammar.PREPOSITIONS:
            return False
        if word in grammar.DETERMINERS or word in grammar.RELATIVES:
            return False
        if not grammar.is_verb(word) or token.text[0].isupper() or word in grammar.MEASURES:
            return True
        if following == "of" or following in grammar.AUXILIARIES:
            return True
        return first and word in grammar.AMBIGUOUS and grammar.is_verb(following)

    def _aux_next(self) -> bool:
        return self._word() in grammar.AUXILIARIES

    def _question_kind(self, word: str, lead: int) -> ConstituentKind:
        if lead or word in ("when", "where", "why", "how"):
            return "adverbial"
        if not self._aux_next():
            return "subject"
        if self._word() in grammar.BE:
            return "predicative"
        return "object"

    def _is_predicate(self, token: Token | None) -> bool:
        return token is not None and not token.mark and (
            grammar.is_verb(token.folded) or grammar.is_participle(token.folded)
        )  # fmt: skip

    def _take_verb(self) -> None:
        token = self._tokens[self._at]
        self._close("predicate")
        self._open.tokens.append(token)
        self._verb = token
        self._at += 1
        self._close()

    def _step(self, token: Token) -> None:
        word = token.folded
        if token.mark:
            self._mark()
        elif word in grammar.AUXILIARIES:
            if self._is_main(word):
                self._take_verb()
            else:
                self._auxiliary(word)
        elif word in grammar.PREPOSITIONS:
            self._preposition(token)
        elif word in grammar.RELATIVES and self._before_relative(word):
            self._relative()
        elif self._verb_here(token):
            self._take_verb()
        elif self._participle_clause(token):
            self._close("attribute")
            self._take()
        else:
            if word in grammar.DETERMINERS:
                self._determiner()
            self._take()

    def _take(self) -> None:
        self._open.tokens.append(self._tokens[self._at])
        self._at += 1

    def _determiner(self) -> None:
        """Opens a phrase, unless one has only just begun."""
        phrase = self._open.tokens
        if not any(_content(t) for t in phrase) or phrase[-1].folded in grammar.CONJUNCTIONS:
            return
        if self._open.tokens[0].folded not in grammar.PREPOSITIONS | grammar.RELATIVES:
            self._close("predicative" if self._aux == "be" and self._verb is None else None)

    def _is_main(self, word: str) -> bool:
        """ "do" and "have" as main verbs ("What did the crew do?")."""
        return bool(self._aux == "do" and word in ("do", "have") and self._open.tokens)

    def _mark(self) -> None:
        noun = self._open.tokens and self._open.kind in ("subject", "object", "predicative")
        self._at += 1
        following = self._peek()
        named = following is not None and (
            following.text[0].isupper() or following.folded in grammar.DETERMINERS
        )
        if noun and named and self._word() not in grammar.WH:
            self._close("apposition")
        else:
            self._close()

    def _auxiliary(self, word: str) -> None:
        self._aux = "be" if word in grammar.BE else "do" if word in grammar.DO else "other"
        self._at += 1
        self._close()

    def _preposition(self, token: Token) -> None:
        """ "of" belongs to the noun before it; so does any other where no verb came yet."""
        if self._goes_on(token):
            self._take()
            return
        after_noun = bool(self._open.tokens) and self._open.kind not in ("adverbial",)
        free = self._verb is None and self._aux == "be" and self._asked in ("who", "what", "which")
        noun = token.folded == "of" or (after_noun and (free or self._verb is None))
        if token.folded == "of" and not (self._open.tokens or self._done):
            noun = False
        timed = bool(self._peek(1) and self._tokens[self._at + 1].text[0].isdigit())
        self._close("attribute" if noun and not timed else "adverbial")
        self._take()

    def _goes_on(self, token: Token) -> bool:
        """ "Kingdom of Prussia" is one name, "written by Ken" one attribute."""
        if not self._open.tokens:
            return False
        last, following = self._open.tokens[-1], self._peek(1)
        named = following is not None and following.text[0].isupper()
        if token.folded == "of" and named and last.text[0].isupper():
            return True
        return self._open.kind == "attribute" and grammar.is_participle(last.folded)

    def _before_relative(self, word: str) -> bool:
        """ "that" opens a clause after a noun, and is a determiner elsewhere."""
        if word in ("when", "where", "if", "because", "while", "whether"):
            return True
        return bool(self._open.tokens) and _content(self._open.tokens[-1])

    def _relative(self) -> None:
        """A subordinate clause is one constituent, up to the next mark."""
        clause: ConstituentKind = (
            "adverbial"
            if self._word() in ("when", "if", "because", "while", "whether")
            else "attribute"
        )
        self._close(clause)
        while (token := self._peek()) is not None and not token.mark:
            self._take()

    def _verb_here(self, token: Token) -> bool:
        if self._verb is not None or token.text[0].isupper():
            return False
        word, nouns = token.folded, [t for t in self._open.tokens if _content(t)]
        if not nouns and not (self._done and self._aux):
            return False
        following = self._word(1)
        ends = not following or following in grammar.PREPOSITIONS | grammar.DETERMINERS | {","}
        if self._aux == "be":
            identity = self._asked in ("who", "what", "which") and self._open.kind == "subject"
            participle = grammar.is_participle(word) or word.endswith("ing")
            return participle and not (identity and nouns)
        if not grammar.is_verb(word):
            return False
        if self._aux:
            return ends or word not in grammar.AMBIGUOUS or not self._verb_later()
        return bool(nouns) and word not in grammar.AMBIGUOUS and self._open.kind == "subject"

    def _verb_later(self) -> bool:
        """Whether the run of words goes on to another verb."""
        for token in self._tokens[self._at + 1 :]:
            if token.mark or token.folded in grammar.PREPOSITIONS | grammar.DETERMINERS:
                return False
            if grammar.is_verb(token.folded):
                return True
        return False

    def _participle_clause(self, token: Token) -> bool:
        """ "a film written by …": the participle opens an attribute."""
        return (
            bool(self._open.tokens)
            and _content(self._open.tokens[-1])
            and grammar.is_participle(token.folded)
            and grammar.is_verb(token.folded)
            and self._word(1) in grammar.PREPOSITIONS
        )

    def _late_verb(self) -> None:
        """After "did" a verb must come: of an unknown one, the last word of the first phrase."""
        if self._aux != "do" or self._verb is not None:
            return
        for at, chunk in enumerate(self._done):
            if chunk.kind == "subject" and len([t for t in chunk.tokens if _content(t)]) > 1:
                verb = _Chunk("predicate", [chunk.tokens.pop()])
                self._done.insert(at + 1, verb)
                return

    def _settle_subject(self) -> None:
        """ "What mosques are located in …": without another subject, what is asked for is it."""
        if not any(chunk.kind == "subject" for chunk in self._done):
            for chunk in self._done:
                if chunk.kind == "predicative":
                    chunk.kind = "subject"
                    return


def _expected(word: str, rest: Sequence[str]) -> Expected:
    if word == "when" or (word in ("what", "which") and set(rest) & grammar.TIME_NOUNS):
        return "time"
    if word == "how":
        counted = {"many", "old", "tall", "high", "heavy", "deep", "wide", "large"}
        return "number" if rest and rest[0] in counted else "any"
    return "name" if word in ("who", "whom", "whose", "where") else "any"
