"""What an evaluation runs, and all that an answer of it depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from ragcli.decoding.settings import Settings
from ragcli.evaluate.arms import namespaces_of
from ragcli.evaluate.rows import Premise
from ragcli.evaluate.types import Arm, Question
from ragcli.llm import prompts
from ragcli.llm.prompts.answer import STYLES
from ragcli.methods.registry import settings_from

SHORT = ("answer.style=short", "sampling.max_tokens=48")  # the headline's prompt and length


def assignments(style: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """The settings of a run in a style of `answer.style`; those given by the user last."""
    own = SHORT if style == "short" else (f"answer.style={style}",)
    return (*own, *given)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. assignments: `--set` of all arms. force: answer where `ask` would abstain."""

    questions: tuple[Question, ...]
    arms: tuple[Arm, ...]
    assignments: tuple[str, ...] = SHORT
    verifier: str = "lexical"
    premise: Premise = "sentence"
    force: bool = True
    n_ctx: int | None = None

    def settings(self, arm: Arm) -> Settings:
        """Raises UsageError."""
        extra = [f"retrieval.k={self._candidates(arm)}"] if arm.knowledge == "full" else []
        return settings_from([*self.assignments, *arm.settings, *extra])

    def _candidates(self, arm: Arm) -> int:
        given = settings_from([*self.assignments, *arm.settings])
        return int(given.extra["retrieval.candidates"])


def prompt_versions() -> dict[str, object]:
    """The version of every prompt, by name."""
    found: dict[str, object] = {}
    for module in iter_modules(prompts.__path__):
        prompt = import_module(f"{prompts.__name__}.{module.name}")
        version = getattr(prompt, "version", None)
        found[module.name] = (
            [version(style) for style in STYLES] if version else getattr(prompt, "VERSION", "")
        )
    return found


def relevant(settings: Settings, arm: Arm) -> dict[str, object]:
    """The settings that the arm reads, and those it sets."""
    names = namespaces_of(arm)
    return {k: v for k, v in settings.as_dict().items() if k.partition(".")[0] in names}
