"""A loaded model behind the `Generator` protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragcli.errors import UsageError
from ragcli.llm import scoring
from ragcli.llm.base import EncodedPrompt, ModelIdentity, Prompt, PromptPiece, Tokens
from ragcli.llm.context import Context, ContextOptions
from ragcli.llm.fingerprint import file_sha256
from ragcli.llm.layout import Codec, encode
from ragcli.llm.llama import Model
from ragcli.llm.prefix import fixed_prefix
from ragcli.llm.session import BranchSession
from ragcli.llm.states import StateFiles
from ragcli.llm.tap import Tap, why_unreadable
from ragcli.llm.template import chat_pieces
from ragcli.llm.vocabulary import LlamaVocabulary

# Layers whose attention is read by default, as parts of the model's depth. Measured with
# tests/bench/tap_layers.py: while the answer is read, the sentence that holds it gets most
# attention (of about 15) in 67 % of 30 questions on the 135M model (layers 18 and 21 of 30;
# the last layer: 17 %) and in 92 % of 12 on the 0.5B one (14 and 16 of 24; the last: 75 %).
# The best single layer is not better on both; more layers add nothing.
TAP_DEPTHS = (0.6, 0.7)
MAX_BRANCHES = 200  # llama.cpp takes 256 sequences; one is the session's own


class LlamaGenerator:
    """See `Generator`; made by `llama.open_generator`."""

    def __init__(
        self,
        model: Model,
        *,
        threads: int,
        n_ctx: int | None = None,
        flash: bool = False,
        tap_layers: tuple[int, ...] | None = None,
        states: Path | None = None,
        adapter: Path | None = None,
    ) -> None:
        self._model, self._state_folder = model, states
        self._limit = n_ctx or model.n_ctx_train
        handle = model.adapter(adapter) if adapter else None
        self._options = ContextOptions(threads, flash, adapter=handle)
        self._adapter = adapter
        self._adapted: dict[Path, LlamaGenerator] = {}
        self._template = model.meta("tokenizer.chat_template")
        self._vocabulary = LlamaVocabulary(model, self._template)
        self._layers = _layers(tap_layers, model.n_layer)
        self._tap_reason = model.why_no_tap() or why_unreadable()
        if flash and not self._tap_reason:
            self._tap_reason = "flash attention is on, which never writes attention down"
        self._scorer: BranchSession | None = None
        self.cancel: Callable[[], bool] | None = None
        self.progress: Callable[[int, int], None] | None = None

    @cached_property
    def identity(self) -> ModelIdentity:
        """The file is hashed on the first use, and remembered."""
        path = self._model.path
        return ModelIdentity(
            name=self._model.meta("general.name") or path.stem,
            path=path,
            sha256=file_sha256(path),
            size=path.stat().st_size,
            architecture=self._model.architecture,
            parameters=self._model.parameters(),
        )

    @property
    def vocabulary(self) -> LlamaVocabulary:
        return self._vocabulary

    @property
    def n_ctx_train(self) -> int:
        return self._model.n_ctx_train

    @property
    def limit(self) -> int:
        """Most tokens one branch may hold."""
        return self._limit

    @property
    def tap_layers(self) -> tuple[int, ...]:
        """The layers whose attention is averaged."""
        return self._layers

    @property
    def tap_available(self) -> bool:
        return not self._tap_reason

    @property
    def tap_reason(self) -> str:
        return self._tap_reason

    def chat(
        self, system: str, user: Sequence[PromptPiece], assistant_prefix: str = ""
    ) -> EncodedPrompt:
        pieces, notes = chat_pieces(
            self._template,
            system,
            user,
            assistant_prefix,
            bos=self._vocabulary.name("bos"),
            eos=self._vocabulary.name("eos"),
        )
        return encode(pieces, self._codec, notes)

    def encode(self, prompt: Prompt) -> EncodedPrompt:
        return encode(prompt.pieces, self._codec)

    def session(
        self, branches: int, *, tap: bool = True, n_ctx: int | None = None
    ) -> BranchSession:
        if not 1 <= branches <= MAX_BRANCHES:
            raise ValueError(f"a session has 1 to {MAX_BRANCHES} branches")

        return BranchSession(
            self._maker(branches, tap=tap and self.tap_available),
            branches,
            limit=self._limit,
            n_ctx=n_ctx,
            no_tap=self._lose_tap,
        )

    def score_next(
        self, prompts: Sequence[EncodedPrompt], tokens: Sequence[int]
    ) -> NDArray[np.float32]:
        return scoring.score_next(
            self._scoring(),
            [prompt.tokens for prompt in prompts],
            tokens,
            prefix=fixed_prefix(prompts),
            progress=self.progress or scoring.silent,
        )

    def loglikelihood(
        self, prompts: Sequence[EncodedPrompt], continuations: Sequence[Tokens]
    ) -> NDArray[np.float64]:
        return scoring.loglikelihood(
            self._scoring(),
            [prompt.tokens for prompt in prompts],
            continuations,
            prefix=fixed_prefix(prompts),
            progress=self.progress or scoring.silent,
        )

    def adapted(self, adapter: Path) -> LlamaGenerator:
        """See `Generator.adapted`; the same one for the same file."""
        if adapter not in self._adapted:
            self._adapted[adapter] = LlamaGenerator(
                self._model,
                threads=self._options.threads,
                n_ctx=self._limit,
                flash=self._options.flash,
                tap_layers=self._layers,
                states=self._state_folder,
                adapter=adapter,
            )
        other = self._adapted[adapter]
        other.cancel, other.progress = self.cancel, self.progress
        return other

    def close(self) -> None:
        """Frees the model; its sessions must be closed before."""
        for one in (self, *self._adapted.values()):
            if one._scorer is not None:
                one._scorer.close()
            one._scorer = None
        self._adapted.clear()
        self._model.close()

    def __enter__(self) -> LlamaGenerator:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @cached_property
    def _codec(self) -> Codec:
        vocabulary = self._vocabulary
        return Codec(
            plain=vocabulary.tokenize,
            control=vocabulary.control,
            piece=vocabulary.piece,
            bos=vocabulary.bos,
        )

    def _maker(self, branches: int, *, tap: bool) -> Callable[[int], Context]:
        def make(size: int) -> Context:
            reader = Tap(self._layers) if tap else None
            return Context(
                self._model, size, branches + 1, self._options, tap=reader, cancel=self._cancelled
            )

        return make

    def _scoring(self) -> BranchSession:
        if self._scorer is None:
            self._scorer = BranchSession(
                self._maker(scoring.GROUP, tap=False),
                scoring.GROUP,
                limit=self._limit,
                states=self._states(),
            )
        return self._scorer

    def _states(self) -> StateFiles | None:
        """Prompt states of this model and engine; None where none are kept."""
        if self._state_folder is None:
            return None
        engine = {
            **self._model.engine(),
            "model": self.identity.sha256,
            "threads": self._options.threads,
            "flash": self._options.flash,
            "batch": self._options.n_batch,
            "adapter": file_sha256(self._adapter) if self._adapter else None,
        }
        return StateFiles(self._state_folder, engine)

    def _cancelled(self) -> bool:
        return self.cancel is not None and self.cancel()

    def _lose_tap(self, reason: str) -> None:
        self._tap_reason = reason


def _layers(wanted: tuple[int, ...] | None, n_layer: int) -> tuple[int, ...]:
    """Layer numbers, counted from 0; None is the measured default."""
    if wanted is None:
        wanted = tuple(int(depth * n_layer) for depth in TAP_DEPTHS)
    bad = [layer for layer in wanted if not -n_layer <= layer < n_layer]
    if bad or not wanted:
        raise UsageError(
            f"the model has layers 0 to {n_layer - 1}, not {bad[0] if bad else 'none'}",
            hint="negative numbers count from the last layer",
        )
    return tuple(sorted({layer % n_layer for layer in wanted}))
