"""What is compared: methods, combinations of their parts, and known bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ragcli.decoding.options import DECODERS
from ragcli.errors import UsageError
from ragcli.evaluate.types import Arm
from ragcli.index.reader import Reader
from ragcli.methods.bases import combined
from ragcli.methods.extracting import Extract
from ragcli.methods.registry import METHODS
from ragcli.methods.retrieval import rescored
from ragcli.methods.selectors import TopPassages, contexts_of, only
from ragcli.methods.stages import Method, Selection, Tools
from ragcli.types import Document, Hit

ARMS: dict[str, Arm] = {
    **{name: Arm(name, name) for name in METHODS},
    "closed-book": Arm("closed-book", "closed-book", knowledge="none"),
    "sentences": Arm("sentences", "plain", select="fke"),
    "verbatim": Arm("verbatim", "plain", verbatim=True),
    "gold": Arm("gold", "plain", knowledge="gold"),
    "full": Arm("full", "plain", knowledge="full"),
}
_PARTS = ("base", "select", "decode")


def parse_arms(text: str) -> tuple[Arm, ...]:
    """Arms of a comma separated list: `plain`, `drag+select=fke`, `fke+fke.alpha=0.5`.

    After each +: base, select or decode, or any setting. Raises UsageError.
    """
    arms = [_parse(one.strip()) for one in text.split(",") if one.strip()]
    if not arms:
        raise UsageError("no method to run", hint=f"--methods {','.join(list(ARMS)[:3])}")
    names = [arm.name for arm in arms]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice} is named twice")
    for arm in arms:
        method_of(arm)
    return tuple(arms)


def _parse(text: str) -> Arm:
    name, *rest = text.split("+")
    if name not in ARMS:
        near = get_close_matches(name, ARMS, n=1)
        guess = f" (did you mean {near[0]}?)" if near else ""
        raise UsageError(f"unknown method: {name}{guess}", hint=f"one of {', '.join(ARMS)}")
    arm = replace(ARMS[name], name=text)
    for part in rest:
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"not KEY=VALUE: {part}", hint=f"write {name}+select=fke")
        if "." in key:
            arm = replace(arm, settings=(*arm.settings, part))
        elif key in _PARTS:
            arm = replace(arm, **{key: value})  # type: ignore[arg-type]
        else:
            raise UsageError(f"{key} is no part of a method", hint=f"one of {', '.join(_PARTS)}")
    if rest and arm.knowledge in ("gold", "none") and any(arm.settings or (arm.base, arm.select)):
        raise UsageError(f"{name} takes no part of another method: {text}")
    return arm


def method_of(arm: Arm) -> Method:
    """The method that an arm runs. Raises UsageError for what does not go together."""
    return combined(
        arm.method, base=arm.base, select=arm.select, decode=arm.decode, verbatim=arm.verbatim
    )


def namespaces_of(arm: Arm) -> frozenset[str]:
    """Of the settings that can change what the arm answers."""
    method = method_of(arm)
    names = {"sampling", "answer", DECODERS[method.decode].options.namespace}
    if method.reads:
        names |= {"retrieval", "evidence", "plain", method.name, arm.select or "", method.base}
        # The number of sentences is FKE's setting, whoever picks them.
        names |= {"fke"} if arm.verbatim or arm.select == "similar" else set()
    return frozenset(names - {""})


def reading(arm: Arm) -> tuple[bool, str, str]:
    """Sorts arms so that those whose main prompts are alike follow one another.

    First those that read the best passages whole, then by what selects.
    """
    method = method_of(arm)
    stage = method.select
    whole = isinstance(stage, TopPassages) or (
        isinstance(stage, Extract) and DECODERS[method.decode].second == "fine"
    )
    alike = whole and method.retrieve is not None and arm.knowledge == "retrieved"
    return (not alike or arm.verbatim, "" if alike else repr(stage), method.base)


@dataclass(frozen=True, slots=True)
class Given:
    """Retrieval that finds what is given, whatever is asked."""

    hits: tuple[Hit, ...]

    def __call__(self, queries: Sequence[str], tools: Tools) -> tuple[Hit, ...]:
        return rescored(queries[0], self.hits, tools)


@dataclass(frozen=True, slots=True)
class Keep:
    """The given sentences of the hits, all of them where `ids` is None."""

    ids: frozenset[int] | None = None
    by: str = "given"

    def __call__(self, question: str, hits: Sequence[Hit], tools: Tools) -> Selection:
        contexts = contexts_of(hits)
        return Selection(contexts if self.ids is None else only(contexts, self.ids), by=self.by)


def given_method(arm: Arm, hits: tuple[Hit, ...], ids: frozenset[int] | None) -> Method:
    """The arm's method over given passages, of which only some sentences are read."""
    return replace(
        method_of(arm), name=arm.knowledge, retrieve=Given(hits), select=Keep(ids, arm.knowledge)
    )


def hits_of(reader: Reader, documents: Iterable[Document]) -> tuple[Hit, ...]:
    """All passages of the documents, in order, as if they had been found."""
    found = [(d, passage) for d in documents for passage in reader.passages(d.id)]
    return tuple(
        Hit(rank, 1.0 / (60 + rank), document, passage)
        for rank, (document, passage) in enumerate(found, start=1)
    )
