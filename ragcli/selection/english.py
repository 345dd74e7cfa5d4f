"""English questions cut into phrases by their question words, auxiliaries, prepositions and verbs."""

from __future__ import annotations

from collections.abc import Sequence

from ragcli.selection import grammar
from ragcli.selection.chunks import Chunk, Token, content
from ragcli.types import ConstituentKind, Expected


class English:
    """One pass over the tokens of an English question, cutting it into phrases."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._done: list[Chunk] = []
        self._open = Chunk("subject")
        self._aux = ""  # "", "be", "do", "other"
        self._asked = ""  # the question word at the front
        self._verb: Token | None = None

    def chunks(self) -> list[Chunk]:
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
        self._open = Chunk(kind or self._due())

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
        chunk = Chunk(kind, taken, _expected(word, rest))
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
        if not any(content(t) for t in phrase) or phrase[-1].folded in grammar.CONJUNCTIONS:
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
        return bool(self._open.tokens) and content(self._open.tokens[-1])

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
        word, nouns = token.folded, [t for t in self._open.tokens if content(t)]
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
            and content(self._open.tokens[-1])
            and grammar.is_participle(token.folded)
            and grammar.is_verb(token.folded)
            and self._word(1) in grammar.PREPOSITIONS
        )

    def _late_verb(self) -> None:
        """After "did" a verb must come: of an unknown one, the last word of the first phrase."""
        if self._aux != "do" or self._verb is not None:
            return
        for at, chunk in enumerate(self._done):
            if chunk.kind == "subject" and len([t for t in chunk.tokens if content(t)]) > 1:
                verb = Chunk("predicate", [chunk.tokens.pop()])
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
