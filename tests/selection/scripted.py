"""A generator whose judgements are scripted, and an encoder by shared words. No model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragcli.llm.base import EncodedPrompt, ModelIdentity, Prompt, PromptPiece, Tokens
from ragcli.text.words import keys_of

Likes = Callable[[str, str], float]  # prompt, continuation → log-probability a token


class Letters:
    """One token a character."""

    size = 0x110000

    def tokenize(self, text: str) -> list[int]:
        return [ord(char) for char in text]

    def piece(self, token: int) -> bytes:
        return chr(token).encode("utf-8", "replace")

    def is_end(self, token: int) -> bool:
        return False


class Scripted:
    """Scores what it is asked by `likes`; remembers prompts and continuations."""

    identity = ModelIdentity("scripted", Path("scripted.gguf"), "0" * 64, 1, "none")
    vocabulary = Letters()
    n_ctx_train = 4096
    tap_available, tap_reason, cancel, progress = False, "none", None, None

    def __init__(self, likes: Likes = lambda _prompt, _text: 0.0) -> None:
        self._likes = likes
        self.asked: list[tuple[str, str]] = []

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        text = "".join(piece.text for piece in prompt.pieces)
        assert not any(piece.control for piece in prompt.pieces)
        tokens = np.array(self.vocabulary.tokenize(text), np.int32)
        return EncodedPrompt(tokens, (), np.full(len(tokens), -1, np.int32))

    def chat(
        self, system: str, user: Sequence[PromptPiece], assistant_prefix: str = ""
    ) -> EncodedPrompt:
        begun = (PromptPiece(f"\n{assistant_prefix}"),) if assistant_prefix else ()
        return self.encode(Prompt((PromptPiece(f"{system}\n"), *user, *begun)))

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        pairs = [
            (_text(prompt.tokens), _text(rest))
            for prompt, rest in zip(prompts, continuations, strict=True)
        ]
        self.asked += pairs
        return np.array([self._likes(*pair) * len(pair[1]) for pair in pairs], np.float64)

    def score_next(
        self, prompts: Sequence[EncodedPrompt], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        texts = [_text(prompt.tokens) for prompt in prompts]
        self.asked += [(text, "") for text in texts]
        rows = [[self._likes(text, chr(token)) for token in tokens] for text in texts]
        return np.array(rows, np.float32)

    def session(self, branches: int, **_: Any) -> Any:
        raise AssertionError("selection never generates")

    def close(self) -> None:
        return


def _text(tokens: Tokens) -> str:
    return "".join(chr(int(token)) for token in tokens)


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors: texts are similar as far as they share words."""
    vectors = np.zeros((len(texts), 4096), np.float32)
    for row, text in enumerate(texts):
        for key in keys_of(text):
            vectors[row, sum(map(ord, key)) * 31 % 4096] = 1.0
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1.0))
