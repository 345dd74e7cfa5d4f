"""The base pipelines by name, for `--base`, and what combines with what.

A base decides how passages are come by; the selector decides what of them is read, the decoder
how it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ragcli.decoding.options import DECODERS
from ragcli.errors import UsageError
from ragcli.methods.correcting import Corrective, Refined
from ragcli.methods.dragin import Rind
from ragcli.methods.registry import find_method
from ragcli.methods.retrieval import Hybrid
from ragcli.methods.selecting import with_selector
from ragcli.methods.selectors import TopPassages
from ragcli.methods.stages import Method


@dataclass(frozen=True, slots=True)
class Base:
    """A base pipeline by name. under: puts the stages of a method on it."""

    name: str
    summary: str
    under: Callable[[Method], Method]


def _plain(method: Method) -> Method:
    return replace(method, retrieve=Hybrid(), gather=None, watch=None)


def _crag(method: Method) -> Method:
    inner = method.select or TopPassages()
    select = inner if isinstance(inner, Refined) else Refined(inner)
    return replace(method, retrieve=None, gather=Corrective(), select=select, watch=None)


def _dragin(method: Method) -> Method:
    return replace(method, retrieve=Hybrid(), gather=None, watch=Rind())


BASES: dict[str, Base] = {
    base.name: base
    for base in (
        Base("plain", "retrieve once", _plain),
        Base("crag", "judge the retrieval, look further if it falls short, read strips", _crag),
        Base("dragin", "retrieve again where a sentence was uncertain", _dragin),
    )
}


def find_base(name: str) -> Base:
    """The base of that name. Raises UsageError with the nearest valid one."""
    if name in BASES:
        return BASES[name]
    near = get_close_matches(name, BASES, n=1)
    guess = f" (did you mean {near[0]}?)" if near else ""
    raise UsageError(f"unknown base: {name}{guess}", hint=f"bases: {', '.join(BASES)}")


def with_base(method: Method, name: str | None) -> Method:
    """The method on another base pipeline; None leaves it its own.

    Raises UsageError for an unknown base, and for methods that are bound to their own.
    """
    if name is None or find_base(name).name == method.base:
        return method
    if not method.reads:
        raise UsageError(
            f"{method.name} retrieves nothing, so there is no base to put it on",
            hint="leave out --base, or use another method",
        )
    if method.name in ("crag", "dragin"):
        raise UsageError(
            f"{method.name} is a base pipeline itself and does not go on {name}",
            hint=f"--base {name} with --method plain, fke or drag",
        )
    if method.gather is not None:
        raise UsageError(
            f"{method.name} retrieves in rounds of its own and does not go on {name}",
            hint=f"--base {name} --select {method.name} uses its selection alone",
        )
    return replace(BASES[name].under(method), base=name)


def combined(
    method: str,
    *,
    base: str | None = None,
    select: str | None = None,
    decode: str | None = None,
    verbatim: bool = False,
) -> Method:
    """The method that the names ask for, its decoder included; needs no model and no index.

    Raises UsageError for unknown names and for what does not go together.
    """
    found = find_method(method)
    chosen = with_selector(found, select)
    if isinstance(found.select, Refined) and chosen is not found and chosen.select is not None:
        chosen = replace(chosen, select=Refined(chosen.select))
    chosen = with_base(chosen, base)
    if verbatim and not chosen.reads:
        raise UsageError(f"{chosen.name} has no documents to quote", hint="use another method")
    if verbatim and chosen.watch is not None:
        raise UsageError(
            "dragin decides while an answer is generated, and --verbatim generates none",
            hint="leave out --verbatim, or use another base",
        )
    if decode is None:
        return chosen
    if decode in DECODERS and decode != "plain" and not chosen.reads:
        raise UsageError(
            f"{chosen.name} has no documents for the decoder {decode}",
            hint="use --decode plain, or another method",
        )
    return replace(chosen, decode=decode)
