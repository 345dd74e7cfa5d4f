"""The methods by name, their parameters, and what is known about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches

from ragcli.decoding.options import DECODERS, Setting, show
from ragcli.decoding.settings import Row, Settings, known_settings, parse_settings
from ragcli.errors import UsageError
from ragcli.llm.prompts import answer
from ragcli.methods.analysing import ANALYZER_SETTINGS, Analyse
from ragcli.methods.correcting import CRAG_SETTINGS, Corrective, Refined, thresholds
from ragcli.methods.dragin import DRAGIN_SETTINGS, Rind
from ragcli.methods.extracting import FKE_SETTINGS, Extract
from ragcli.methods.ggatrieval import AlignedPassages, GroundedRounds
from ragcli.methods.grounding_options import GGATRIEVAL_SETTINGS
from ragcli.methods.ko_rag import KO_RAG_SETTINGS, Organise
from ragcli.methods.ordering import ORDERED_SETTINGS
from ragcli.methods.retrieval import Hybrid
from ragcli.methods.selectors import TopPassages
from ragcli.methods.stages import Method

SETTINGS: dict[str, Setting] = {
    "retrieval.k": Setting(
        int, 3, "passages in the prompt; each costs time to read", low=1, high=100
    ),
    "retrieval.candidates": Setting(
        int, 10, "passages retrieved, from which the prompt's are taken", "DRAG section 4", 1, 1000
    ),
    "answer.style": Setting(
        str, "sentence", "a whole sentence, or a name, date, number or phrase alone",
        choices=answer.STYLES,
    ),
    "evidence.enough": Setting(
        float, 1.1, "coverage of the question plus similarity, from which an answer is tried",
        low=0, high=2,
    ),
} | FKE_SETTINGS | ANALYZER_SETTINGS | GGATRIEVAL_SETTINGS | CRAG_SETTINGS | DRAGIN_SETTINGS | KO_RAG_SETTINGS | ORDERED_SETTINGS  # fmt: skip

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "plain",
            "the best passages in one prompt",
            "ours",
            retrieve=Hybrid(),
            select=TopPassages(),
            base="plain",
        ),
        Method(
            "fke",
            "documents and the sentences extracted from them, fused",
            "paper 000",
            decode="fke",
            retrieve=Hybrid(),
            select=Extract(),
            base="plain",
        ),
        Method(
            "drag",
            "passages by the question's components, risky tokens set against the lowest one",
            "paper 001",
            decode="drag",
            retrieve=Hybrid(),
            select=Analyse(),
            base="plain",
        ),
        Method(
            "ko-rag",
            "sentences ordered by a trained organizer, cut where nothing helps any more",
            "paper 002",
            retrieve=Hybrid(),
            select=Organise(),
            base="plain",
        ),
        Method(
            "ggatrieval",
            "rounds of retrieval until what is kept matches every part of the question",
            "paper 004",
            gather=GroundedRounds(),
            select=AlignedPassages(),
        ),
        Method(
            "crag",
            "passages judged, looked for further if they fall short, read in strips",
            "paper 000, appendix A.3",
            gather=Corrective(),
            select=Refined(TopPassages()),
            base="crag",
        ),
        Method(
            "dragin",
            "the best passages, and others where a sentence was uncertain",
            "paper 000, appendix A.2",
            retrieve=Hybrid(),
            select=TopPassages(),
            watch=Rind(),
            base="dragin",
        ),
        Method("closed-book", "the model's memory alone, no documents", "baseline"),
    )
}


@dataclass(frozen=True, slots=True)
class MethodRow:
    """A method for `ragcli methods`: its stages by name and the settings it reads."""

    name: str
    summary: str
    source: str
    decode: str
    stages: dict[str, str]
    settings: tuple[Row, ...]


def find_method(name: str) -> Method:
    """The method of that name. Raises UsageError with the nearest valid one."""
    if name in METHODS:
        return METHODS[name]
    near = get_close_matches(name, METHODS, n=1)
    guess = f" (did you mean {near[0]}?)" if near else ""
    raise UsageError(f"unknown method: {name}{guess}", hint=f"methods: {', '.join(METHODS)}")


def describe(name: str) -> MethodRow:
    """What a method is made of and which settings act on it, with defaults and sources."""
    method = find_method(name)
    stages = {
        field.name: told(stage)
        for field in fields(method)
        if field.name in ("expand", "retrieve", "refine", "gather", "select", "watch")
        and (stage := getattr(method, field.name)) is not None
    }
    namespaces = {DECODERS[method.decode].options.namespace, "sampling", "answer", method.name}
    if method.reads:
        namespaces |= {"evidence"}
    if method.retrieve is not None or method.base:
        namespaces |= {"retrieval"}
    rows = tuple(
        Row(key, show(one.default), one.allowed, one.doc, one.source)
        for key, one in known_settings(SETTINGS).items()
        if key.partition(".")[0] in namespaces
    )
    return MethodRow(method.name, method.summary, method.source, method.decode, stages, rows)


def told(stage: object) -> str:
    """A stage's name and, in a sentence, what it does (its documentation's first one)."""
    first = (type(stage).__doc__ or "").strip().split("\n\n")[0]
    sentence = " ".join(first.split()).replace("`", "")
    inner = getattr(stage, "inner", None)
    wraps = f" Inner: {told(inner)}" if inner is not None else ""
    steps = getattr(stage, "steps", ())
    order = f" Steps: {', '.join(steps)}." if steps else ""
    return f"{type(stage).__name__}. {sentence}{order}{wraps}".rstrip()


def settings_from(
    assignments: list[str] | tuple[str, ...] = (), base: Mapping[str, object] | None = None
) -> Settings:
    """Settings with the methods' own keys registered. Raises UsageError."""
    settings = parse_settings(assignments, extra=SETTINGS, base=base)
    thresholds(settings)  # refuses crossed ones
    return settings
