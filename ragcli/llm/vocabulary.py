"""Tokens of a loaded model; names of special tokens in plain text are inert."""

from __future__ import annotations

from functools import lru_cache

from ragcli.llm.layout import to_bytes
from ragcli.llm.llama import C, Model

_USER_DEFINED = 1 << 3  # enum llama_token_attr
_MAX_CUTS = 200_000  # special tokens cut in one text; beyond, the text is refused


class LlamaVocabulary:
    """The `Vocabulary` protocol over a model."""

    def __init__(self, model: Model, template: str = "") -> None:
        self._model = model
        self._template = to_bytes(template)
        self._pieces: dict[int, bytes] = {}
        self._active = lru_cache(maxsize=None)(self._is_active)

    @property
    def size(self) -> int:
        return self._model.n_vocab

    @property
    def bos(self) -> int | None:
        """The token every prompt must start with, None if the model wants none."""
        if not C.llama_vocab_get_add_bos(self._model.vocab):
            return None
        token = int(C.llama_vocab_bos(self._model.vocab))
        return token if token >= 0 else None

    @property
    def end(self) -> int | None:
        """The token that ends an answer: of the turn where the model has one, else of the text."""
        for name in ("eot", "eos"):
            token = int(getattr(C, f"llama_vocab_{name}")(self._model.vocab))
            if token >= 0:
                return token
        return None

    def name(self, kind: str) -> str:
        """The text of the "bos" or "eos" token, "" if there is none."""
        token = int(getattr(C, f"llama_vocab_{kind}")(self._model.vocab))
        return self._model.piece(token, special=True).decode() if token >= 0 else ""

    def tokenize(self, text: str) -> list[int]:
        raw = to_bytes(text)
        tokens = self._model.tokenize(raw, special=False)
        if not any(map(self._active, tokens)):
            return tokens
        return self._cut_apart(tokens, raw)

    def control(self, text: str) -> list[int]:
        """Tokens of the template's own text, special tokens parsed."""
        return self._model.tokenize(to_bytes(text), special=True)

    def piece(self, token: int) -> bytes:
        if token not in self._pieces:
            self._pieces[token] = self._model.piece(token, special=False)
        return self._pieces[token]

    def is_end(self, token: int) -> bool:
        return bool(C.llama_vocab_is_eog(self._model.vocab, token))

    def _is_active(self, token: int) -> bool:
        """Whether a token steers the model: control, end, or a word of the chat template.

        Some files declare their template's tokens as user-defined, and llama.cpp parses
        those in any text.
        """
        vocab = self._model.vocab
        if C.llama_vocab_is_control(vocab, token) or C.llama_vocab_is_eog(vocab, token):
            return True
        if not C.llama_vocab_get_attr(vocab, token) & _USER_DEFINED:
            return False
        text = self._model.piece(token, special=True)
        return bool(text.strip()) and text in self._template

    def _cut_apart(self, tokens: list[int], raw: bytes) -> list[int]:
        """Tokens again, with each active token's text cut after its first byte."""
        plain: list[int] = []
        cursor, start = 0, 0
        for token in tokens:
            piece = self._model.piece(token, special=True)
            if self._active(token) and (found := raw.find(piece, cursor)) >= 0 and piece:
                plain += self._inert(raw[start : found + 1])
                start = found + 1
                cursor = found + len(piece)
        return plain + self._inert(raw[start:])

    def _inert(self, raw: bytes) -> list[int]:
        """Tokens of a part; what is still active is spelled out by its bytes' own tokens."""
        tokens = self._model.tokenize(raw, special=False) if raw else []
        if not any(map(self._active, tokens)):
            return tokens
        parts = [self._model.tokenize(raw[i : i + 1], special=False) for i in range(len(raw))]
        return [token for part in parts for token in part if not self._active(token)]
