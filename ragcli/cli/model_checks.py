"""Can the models in force be used?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragcli.cli.checks import Finding, memory, note, ok, problem
from ragcli.cli.config import Config
from ragcli.errors import ModelError, RagcliError
from ragcli.paths import shown


def models(config: Config, *, deep: bool) -> Iterator[Finding]:
    """The generator, the encoder, and how many others were found."""
    yield from _generator(config, deep=deep)
    yield from _encoder(config, deep=deep)
    from ragcli.cli import inventory

    found = inventory.everything(config)
    others = sum(not current for _, current in found)
    yield ok("models", "others", f"{others} found (`ragcli models` lists them)")


def _generator(config: Config, *, deep: bool) -> Iterator[Finding]:
    from ragcli.llm.gguf import read_info
    from ragcli.llm.registry import resolve_model
    from ragcli.render.terminal import size

    try:
        ref = resolve_model(None, configured=config["model"])
        info = read_info(ref.path)
    except RagcliError as error:
        yield problem("models", "generator", error)
        return
    form = " ".join(part for part in (info.architecture, info.quantisation) if part)
    yield ok("models", "generator", f"{shown(ref.name)} ({ref.source}, {form}, {size(ref.size)})")
    if ref.source == "bundled":
        yield note(
            "models", "quality", "the bundled generator is too small for good answers",
            "ragcli models pull OWNER/NAME, then ragcli models use NAME",
        )  # fmt: skip
    free = memory()[1]
    if 0 < free < ref.size:
        yield note(
            "models", "memory", f"the generator's file has {size(ref.size)}, {size(free)} are free",
            "choose a smaller model, or close other programs",
        )  # fmt: skip
    if not info.chat_template:
        yield note("models", "chat template", "the generator has none", "use an instruct model")
    if deep:
        yield from _probed("generator", ref.path)


def _encoder(config: Config, *, deep: bool) -> Iterator[Finding]:
    from ragcli.encoders import resolve_encoder
    from ragcli.encoders.cache import export_folder

    try:
        ref = resolve_encoder(config["encoder"])
    except RagcliError as error:
        yield problem("models", "encoder", error, "choose another: --encoder PATH")
        return
    who = ref.identity
    languages = f", languages: {who.languages}" if who.languages else ""
    yield ok("models", "encoder", f"{shown(who.name)} ({who.dimension} dimensions{languages})")
    if (export_folder(who) / "meta.json").is_file():
        yield ok("models", "encoder export", shown(export_folder(who)))
    else:
        yield note("models", "encoder export", "not made yet", "the first `ragcli index` makes it")
    if deep:
        yield from _probed("encoder", ref.folder)


def _probed(kind: str, path: Path) -> Iterator[Finding]:
    from ragcli.cli.probe import probe

    try:
        yield ok("models", f"{kind} test", probe(kind, path))
    except ModelError as error:
        yield problem("models", f"{kind} test", error, "choose another model")
