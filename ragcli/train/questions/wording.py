"""What a drafted question may say: words of its source, and words that any question needs. Pure.

A small model that writes freely asks for what the text does not tell. Held to these words, word
by word (tokens follow a tree of their spellings), it cannot name what is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ragcli.selection.grammar import VERBS, bases
from ragcli.text.stopwords import STOP_WORDS
from ragcli.text.words import fold

_EDGES = ".,;:!?…()[]{}\"'“”‘’«»„|*_"
_ANY_QUESTION = """a an the of in on at by for from to with as than into between after before during
since until and or not first last did does do is was are were be been being has have had can could will
would must should many much long old far name names year kind type part number percentage people person
what who which when where how whom whose why that other most called made used given known take place
happen mean become"""
# Past forms whose base form no rule gives: "When did it begin?"
_PAST = """began begin broke break brought bring built build bought buy caught catch chose choose came come
drew draw fell fall fed feed felt feel fought fight found find flew fly gave give grew grow held hold
kept keep knew know laid lay led lead left leave lost lose made make met meet paid pay ran run rose rise
said say sang sing saw see sold sell sent send spent spend spoke speak stood stand struck strike took
take taught teach threw throw told tell went go won win wore wear wrote write became become"""
BASES = dict(zip(_PAST.split()[::2], _PAST.split()[1::2], strict=True))
OPENINGS: dict[str, tuple[str, ...]] = {
    "date": ("When",),
    "amount": ("How much", "How", "What"),
    "number": ("How many",),
    "name": ("Who", "What", "Where", "Which"),
    "quoted": ("What", "Which"),
    "content": ("What", "Which"),
}
_YEAR = ("When", "In what year")
_PERCENT = ("What percentage", "How much")
_SPACELESS = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def openings(kind: str, answer: str, language: str) -> tuple[str, ...]:
    """How a question for such an answer may begin; "" leaves it to the model."""
    if language not in ("en", ""):
        return ("",)
    if kind == "amount" and (answer.endswith("%") or fold(answer).endswith("cent")):
        return _PERCENT
    if kind == "date" and answer.isdigit():
        return _YEAR
    return OPENINGS[kind]


def vocabulary(title: str, sentence: str, answer: str, language: str) -> frozenset[str]:
    """The words, as they are spelled in the source, without those of the answer.

    Verbs may stand in their base form too. Empty: a language that sets no blanks between words,
    where nothing is held to anything.
    """
    if language in _SPACELESS:
        return frozenset()
    known = {part for word in f"{title} {sentence}".split() for part in _bare(word)}
    taken = {fold(part) for word in answer.split() for part in _bare(word)}
    own = {word for word in known if fold(word) not in taken}
    verbs = {base for word in own for base in bases(fold(word)) if base in VERBS}
    verbs |= {BASES[fold(word)] for word in own if fold(word) in BASES}
    general = _ANY_QUESTION.split() if language in ("en", "") else STOP_WORDS.get(language, ())
    return frozenset(own | verbs | set(general))


def _bare(word: str) -> Iterable[str]:
    whole = word.strip(_EDGES)
    return [whole, *(part for part in whole.split("_") if "_" in whole)] if whole else []


@dataclass(slots=True)
class Node:
    """A beginning of words. whole: one ends here."""

    next: dict[int, Node] = field(default_factory=dict)
    whole: bool = False


State = tuple[Node, ...]  # where within words the text may stand


class Wording:
    """A text of whole words, by tokens."""

    def __init__(
        self, words: Iterable[str], tokenize: Callable[[str], Sequence[int]], ends: Sequence[int]
    ) -> None:
        """ends: tokens that may end it after a whole word."""
        self._root, self._ends = Node(), frozenset(ends)
        for word in words:
            self._add(tokenize(f" {word}"))
        for mark in (",", "'s"):
            self._add(tokenize(mark))

    @property
    def start(self) -> State:
        """At the end of a word."""
        return (Node(whole=True),)

    def allowed(self, state: State) -> list[int]:
        """Tokens that may come next, ascending."""
        found = {token for node in state for token in node.next}
        if any(node.whole for node in state):
            found |= self._root.next.keys() | self._ends
        return sorted(found)

    def after(self, state: State, token: int) -> State:
        """Raises KeyError for a token that is not allowed."""
        nodes = [node.next[token] for node in state if token in node.next]
        if any(node.whole for node in state) and token in self._root.next:
            nodes.append(self._root.next[token])
        if not nodes:
            raise KeyError(token)
        return tuple(nodes)

    def _add(self, tokens: Sequence[int]) -> None:
        node = self._root
        for token in tokens:
            node = node.next.setdefault(token, Node())
        node.whole = bool(tokens)
