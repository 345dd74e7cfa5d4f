"""A reader and a generator without models: the engine's control flow is what is tested.

Words are tokens. The generator says `script`, whatever the prompt, one word a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragcli.index.where import EVERYWHERE, Where
from ragcli.llm.base import EncodedPrompt, Feed, ModelIdentity, Output, PromptPiece, Tokens
from ragcli.types import Document, Hit, Passage, SearchMode, Sentence, Source

END = 0


class Words:
    """A vocabulary that grows: each new word is a new token. Token 0 ends."""

    def __init__(self) -> None:
        self._words: list[str] = [""]

    size = 10_000

    def tokenize(self, text: str) -> list[int]:
        tokens = []
        for word in text.split(" "):
            if word not in self._words:
                self._words.append(word)
            tokens.append(self._words.index(word))
        return [token for token in tokens if token]

    def piece(self, token: int) -> bytes:
        return f"{self._words[token]} ".encode()

    def is_end(self, token: int) -> bool:
        return token == END


class FakeSession:
    """Says the script word by word; attention is uniform over the prompt."""

    n_ctx = 10_000

    def __init__(self, owner: FakeGenerator, branches: int) -> None:
        self._owner, self.branches = owner, branches
        self._tokens: dict[int, list[int]] = {}
        self._prompt: dict[int, int] = {}
        self._decoded: dict[int, int] = {}

    def start(self, prompts: Mapping[int, Tokens]) -> None:
        self._tokens = {branch: list(map(int, tokens)) for branch, tokens in prompts.items()}
        self._prompt = {branch: len(tokens) for branch, tokens in self._tokens.items()}
        self._decoded = dict.fromkeys(prompts, 0)
        self._owner.starts.append(len(prompts))

    def advance(self, feeds: Sequence[Feed]) -> list[Output]:
        return [self._advance(feed) for feed in feeds]

    def _advance(self, feed: Feed) -> Output:
        branch, tokens = feed.branch, self._tokens[feed.branch]
        fresh = self._decoded[branch] == 0
        before = len(tokens)
        tokens += map(int, feed.tokens)
        self._decoded[branch] = len(tokens)
        first = before if fresh else before + 1
        starts = list(range(first, len(tokens) + 1))
        starts = {"all": starts, "last": starts[-1:], "none": []}[feed.logits]
        logits = np.full((len(starts), Words.size), -10.0, np.float32)
        for row, at in enumerate(starts):
            logits[row, self._owner.word(at - self._prompt[branch])] = 10.0
        attention = np.zeros((len(starts), len(tokens)), np.float32)
        for row, at in enumerate(starts):
            attention[row, :at] = 1.0 / at
        return Output(logits, starts[0] if starts else before, attention)

    def length(self, branch: int) -> int:
        return len(self._tokens[branch])

    def decoded(self, branch: int) -> int:
        return self._decoded[branch]

    def tokens(self, branch: int) -> NDArray[np.int32]:
        return np.asarray(self._tokens[branch], np.int32)

    def truncate(self, branch: int, length: int) -> None:
        del self._tokens[branch][length:]
        self._decoded[branch] = min(self._decoded[branch], length)

    def close(self) -> None:
        self._owner.closed += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class FakeGenerator:
    """See `ragcli.llm.base.Generator`."""

    def __init__(self, script: str, n_ctx_train: int = 2048) -> None:
        self.vocabulary = Words()
        self._script = self.vocabulary.tokenize(script)
        self.n_ctx_train = n_ctx_train
        self.tap_available, self.tap_reason = True, ""
        self.cancel = self.progress = None
        self.sessions = self.closed = 0
        self.starts: list[int] = []
        self.prompts: list[str] = []

    identity = ModelIdentity("fake", Path("fake.gguf"), "f" * 64, 1, "fake")

    def word(self, position: int) -> int:
        return self._script[position] if position < len(self._script) else END

    def chat(
        self, system: str, user: Sequence[PromptPiece], assistant_prefix: str = ""
    ) -> EncodedPrompt:
        pieces = [PromptPiece(system + " "), *user, PromptPiece(" " + assistant_prefix)]
        return self._encode(pieces)

    def encode(self, prompt: Any) -> EncodedPrompt:
        return self._encode(prompt.pieces)

    def _encode(self, pieces: Sequence[PromptPiece]) -> EncodedPrompt:
        self.prompts.append("".join(piece.text for piece in pieces))
        tokens: list[int] = []
        owner: list[int] = []
        sources: list[Source] = []
        for piece in pieces:
            own = self.vocabulary.tokenize(piece.text)
            if piece.source is not None:
                sources.append(piece.source)
            tokens += own
            owner += [len(sources) - 1 if piece.source is not None else -1] * len(own)
        return EncodedPrompt(
            np.asarray(tokens, np.int32), tuple(sources), np.asarray(owner, np.int32)
        )

    def session(self, branches: int, *, tap: bool = True, n_ctx: int | None = None) -> FakeSession:
        self.sessions += 1
        return FakeSession(self, branches)

    def score_next(
        self, prompts: Sequence[EncodedPrompt], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        """The first token is twice as likely as each other one."""
        row = np.full(len(tokens), np.log(0.2), np.float32)
        row[0] = np.log(0.4)
        return np.tile(row, (len(prompts), 1))

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        return np.zeros(len(prompts))

    def close(self) -> None:
        self.closed += 1


class FakeOrganiser:
    """See `ragcli.selection.organiser.Organiser`: the longer a sentence, the better."""

    name, sha256, titled = "fake organizer", "e" * 64, False

    def scores(self, question: str, sentences: Sequence[str]) -> tuple[tuple[float, ...], float]:
        return tuple(float(len(sentence)) for sentence in sentences), 0.0


def document(id: int, title: str = "Island") -> Document:
    return Document(id, Path("/notes"), f"{id}.md", "markdown", title, str(id) * 64, "en")


def hit(rank: int, *texts: str, similarity: float = 0.6) -> Hit:
    """Passage `rank` of document `rank` with one sentence a text."""
    sentences, at = [], 0
    for number, text in enumerate(texts):
        id = 100 * rank + number
        sentences.append(Sentence(id, rank, rank, at, at + len(text), text, None, 1))
        at += len(text) + 1
    passage = Passage(rank, rank, 0, at, " ".join(texts), None, 1, "", tuple(sentences))
    scores = (similarity,) * len(texts)
    return Hit(rank, 1.0 / rank, document(rank), passage, sentence_scores=scores)


class FakeReader:
    """Finds the given hits whatever is asked; texts are equal or at right angles."""

    def __init__(self, *hits: Hit, stale: Sequence[int] = ()) -> None:
        self._hits, self._stale = hits, stale
        self.queries: list[str] = []
        self._places: dict[str, int] = {}

    identity: dict[str, Any] = {"generation": 1}  # noqa: RUF012 - never changed

    def search(
        self,
        query: str,
        *,
        k: int,
        mode: SearchMode = SearchMode.HYBRID,
        where: Where = EVERYWHERE,
        score_sentences: bool = True,
    ) -> tuple[Hit, ...]:
        self.queries.append(query)
        return self._hits[:k]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        places = [self._places.setdefault(text, len(self._places)) for text in texts]
        return np.eye(512, dtype=np.float32)[places]

    def stale(self, documents: Sequence[Document]) -> tuple[Document, ...]:
        return tuple(d for d in documents if d.id in self._stale)
