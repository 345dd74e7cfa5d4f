"""From a selection to the encoded prompts of the branches, cut to the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.decoding.loop import BranchPrompts, RiskContext
from ragcli.decoding.options import DecoderOptions, PlainOptions
from ragcli.decoding.risk import lexical_risk
from ragcli.errors import UsageError
from ragcli.methods.fit import DEFAULT_CONTEXT, fit
from ragcli.methods.frames import FRAMES, ClosedBook
from ragcli.methods.selectors import only
from ragcli.methods.stages import Context, Draft, Method, Selection, Tools


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the generation loop takes.

    contexts: what the main branch shows after cutting. beside: what the sentence branch shows
    and the main branch does not.
    """

    branches: BranchPrompts
    options: DecoderOptions
    risk: RiskContext
    contexts: tuple[Context, ...]
    beside: tuple[Context, ...]
    prompt: str
    warnings: tuple[str, ...]

    @property
    def count(self) -> int:
        """Branches in use."""
        return 1 + (self.branches.fine is not None) + (self.branches.noise is not None)


def prepare(
    question: str,
    method: Method,
    selection: Selection,
    so_far: str,
    tools: Tools,
    n_ctx: int | None,
) -> Prepared:
    """Frames and encodes the branches. Raises UsageError, ModelError."""
    if not method.reads and tools.decode != "plain":
        raise UsageError(
            f"{method.name} has no documents for the decoder {tools.decode}",
            hint="use --decode plain, or another method",
        )
    options = tools.settings.decoder(tools.decode)
    style = tools.choice("answer.style")
    frame = FRAMES[tools.decode](tools.settings.drag, style) if method.reads else ClosedBook(style)
    framed = frame(question, selection, so_far)
    budget = _budget(tools, n_ctx)
    main = fit(framed.main, tools.generator, budget)
    warnings = [_cut_warning(main.dropped, budget)] if main.dropped else []
    second = {
        name: fit(draft, tools.generator, budget)
        for name, draft in (("fine", framed.fine), ("noise", framed.noise))
        if isinstance(draft, Draft)
    }
    if framed.off:
        warnings.append(framed.off)
        options = PlainOptions()
    prompts = {name: fitted.prompt for name, fitted in second.items()}
    branches = BranchPrompts(main.prompt, **prompts)
    risk = _risk(selection, main.contexts, tools)
    beside = _beside(main.contexts, second["fine"].contexts) if "fine" in second else ()
    return Prepared(branches, options, risk, main.contexts, beside, framed.prompt, tuple(warnings))


def _beside(main: Sequence[Context], fine: Sequence[Context]) -> tuple[Context, ...]:
    """The fine contexts without the sentences that the main ones hold."""
    held = {sentence.id for context in main for sentence in context.sentences}
    return only(fine, (s.id for context in fine for s in context.sentences if s.id not in held))


def _budget(tools: Tools, n_ctx: int | None) -> int:
    """Tokens free for a prompt: the context less the answer, at least a quarter of it."""
    limit = min(n_ctx or DEFAULT_CONTEXT, tools.generator.n_ctx_train or DEFAULT_CONTEXT)
    return max(limit - tools.settings.sampling.max_tokens, limit // 4)


def _risk(selection: Selection, contexts: Sequence[Context], tools: Tools) -> RiskContext:
    scores = tuple(context.score for context in contexts)
    if selection.components is None:
        return RiskContext(1.0, scores, "retrieval scores, no query analysis")
    lexical = lexical_risk(selection.components, tools.settings.drag)
    return RiskContext(lexical, scores, selection.by)


def _cut_warning(dropped: int, budget: int) -> str:
    plural = "" if dropped == 1 else "s"
    return (
        f"{dropped} sentence{plural} of the lowest-ranked passages left out:"
        f" the prompt may hold {budget} tokens (--ctx)"
    )
