"""Opens what a command needs, for the configuration in force. Imports lazily."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragcli.cli.config import COMMAND_LINE, Config
from ragcli.cli.environment import Environment
from ragcli.cli.organizers import check_organizer, organizer
from ragcli.errors import IndexMissing, UsageError
from ragcli.paths import INDEX_DIR, shown, user_cache_dir

if TYPE_CHECKING:
    from ragcli.decoding.settings import Settings
    from ragcli.encoders.base import Encoder, EncoderIdentity
    from ragcli.events import Event, Progress
    from ragcli.index.reader import Reader
    from ragcli.index.where import Where
    from ragcli.llm.base import Generator
    from ragcli.methods.run import Asker
    from ragcli.methods.stages import Method
    from ragcli.render.answer import Searched
    from ragcli.render.risk import Levels
    from ragcli.types import Document


def parse(assignments: Sequence[str]) -> Settings:
    """Method parameters, checked. Raises UsageError."""
    from ragcli.methods.registry import settings_from

    return settings_from(list(assignments))


def index_dir(config: Config) -> Path:
    """The index to read. Raises IndexMissing."""
    from ragcli.index.location import find_index

    chosen = config["index"]
    if chosen is not None:
        if not chosen.is_dir():
            raise IndexMissing(f"there is no index in {shown(chosen)}", hint=_MAKE)
        return Path(chosen)
    found = find_index(Path.cwd())
    if found is None:
        raise IndexMissing("there is no index here or in a folder above", hint=_MAKE)
    return found


def index_dir_to_write(config: Config) -> Path:
    """The index to write: the chosen one, the one found, or a new one in the working directory."""
    from ragcli.index.location import find_index

    return Path(config["index"] or find_index(Path.cwd()) or Path.cwd() / INDEX_DIR)


def encoder(config: Config, env: Environment, precision: str = "exact") -> Callable[[], Encoder]:
    """Opens the encoder when it is first needed; later calls return the same one."""
    opened: list[Encoder] = []

    def open_once() -> Encoder:
        if not opened:
            from ragcli.encoders import open_encoder, resolve_encoder

            ref = resolve_encoder(config["encoder"], precision)
            opened.append(open_encoder(ref, threads=threads(config), log=env.note))
        return opened[0]

    return open_once


def named_encoder(config: Config, precision: str) -> EncoderIdentity | None:
    """The encoder that the user named, to be compared with the index's at once."""
    if config["encoder"] is None and config["encoder_precision"] is None:
        return None
    from ragcli.encoders import resolve_encoder

    return resolve_encoder(config["encoder"], precision).identity


def precision_to_write(config: Config, folder: Path) -> str:
    """What the user wants, else what the index in `folder` was made with."""
    from ragcli.index.versions import recorded_precision

    return config["encoder_precision"] or recorded_precision(folder)


def reader(config: Config, env: Environment) -> Reader:
    """The last committed state of the index. Raises IndexMissing, IndexUnusable.

    Queries are encoded with the precision that its passages were.
    """
    from ragcli.index.reader import Reader
    from ragcli.index.versions import recorded_precision

    folder = index_dir(config)
    return Reader.open(folder, encoder(config, env, recorded_precision(folder)))


def generator(config: Config, env: Environment) -> Generator:
    """The generator, loaded. Raises ModelError."""
    from ragcli.llm.llama import open_generator
    from ragcli.llm.registry import resolve_model

    chosen = config.settings.get("model")
    if chosen is None or chosen.origin == COMMAND_LINE:
        ref = resolve_model(chosen.value if chosen else None)
    else:
        ref = resolve_model(None, configured=chosen.value)
    env.detail(f"model: {ref.name} ({shown(ref.path)})")
    if ref.source == "bundled":
        _say_once(env, "small-model", _SMALL)
    if config["threads"] is not None and config["threads"] > cpus():
        env.note(f"threads: {cpus()} are used, one a CPU; {config['threads']} were asked for")
    return open_generator(
        ref.path,
        threads=threads(config),
        gpu_layers=None if config["gpu_layers"] == -1 else config["gpu_layers"],
        n_ctx=config["ctx"],
        verbose=env.verbose > 1,
    )


def workers(config: Config) -> int:
    """Processes that read files: --threads, else the CPUs that this process may use."""
    return threads(config) or cpus()


def threads(config: Config) -> int | None:
    """--threads, but no more than there are CPUs, or None where nothing is set.

    The engine's threads wait for each other awake: a few too many make it hundreds of times
    slower, and the whole machine with it.
    """
    chosen = config["threads"]
    return None if chosen is None else min(int(chosen), cpus())


def cpus() -> int:
    """The CPUs that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


@contextmanager
def answering(
    config: Config,
    env: Environment,
    *,
    where: Where,
    force: bool = False,
    verbatim: bool = False,
) -> Iterator[Answering]:
    """Ready to answer: index and model are open. Raises before anything is asked.

    verbatim: the model is loaded only if a stage asks for it.

    Raises IndexMissing, IndexUnusable, ModelError, UsageError (unknown names, and what does not
    go together).
    """
    from ragcli.cite.verify import check_verifier
    from ragcli.llm.ondemand import OnDemand
    from ragcli.methods.analysing import check_adapter, reads_adapter
    from ragcli.methods.bases import combined
    from ragcli.methods.run import Asker, AskOptions
    from ragcli.types import SearchMode

    settings = parse(config.assignments)
    method = combined(
        config["method"],
        base=config["base"],
        select=config["select"],
        decode=config["decode"],
        verbatim=verbatim,
    )
    decode = config.settings.get("decode")
    if verbatim and decode is not None and decode.origin == COMMAND_LINE:
        raise UsageError(
            "--verbatim generates nothing, so there is nothing to decode",
            hint="leave out --decode, or --verbatim",
        )
    settings.decoder(method.decode)  # unknown names are refused before the model loads
    check_adapter(method, settings, config["adapter"])
    adapter = config.settings.get("adapter")
    given = adapter is not None and adapter.origin == COMMAND_LINE
    if given and not reads_adapter(method, settings):
        raise UsageError(
            "nothing would read --adapter here",
            hint="add --select drag --set drag.analyzer=adapter, or leave it out",
        )
    check_organizer(config, method)
    check_verifier(config["verifier"])
    options = AskOptions(
        decode=method.decode,
        verifier=config["verifier"],
        mode=SearchMode(config["mode"]),
        where=where,
        force=force,
        n_ctx=config["ctx"],
        verbatim=verbatim,
        adapter=config["adapter"],
        organiser=organizer(config, env, threads(config)),
        select=config["select"],
    )
    with reader(config, env) as opened:
        load = partial(generator, config, env)
        model = OnDemand(load) if verbatim else load()
        with Asker(opened, model, settings, options) as asker:
            yield Answering(partial(_put, asker, method), opened, where)


def _put(
    asker: Asker, method: Method, question: str, report: Callable[[Progress], None] | None
) -> Iterator[Event]:
    return asker.ask(question, method, report=report)


@dataclass(slots=True)
class Answering:
    """Puts questions; knows what was searched. ask takes who is told of progress, or None."""

    ask: Callable[[str, Callable[[Progress], None] | None], Iterator[Event]]
    reader: Reader
    where: Where
    _searched: Searched | None = None

    def searched(self) -> Searched:
        """What was searched, and the files that could not be read."""
        if self._searched is None:
            from ragcli.render.answer import Searched
            from ragcli.render.status import unread
            from ragcli.types import FileStatus

            status = self.reader.status()
            files = status.files.get("indexed", 0) + status.files.get("partial", 0)
            lacking = unread(self.reader.files())
            in_part = frozenset(one.path for one in lacking if one.status is FileStatus.PARTIAL)
            missing = tuple((one.path, one.reason) for one in lacking)
            self._searched = Searched(
                files, status.passages, self.where.globs, self.where.kinds, missing, in_part
            )
        return self._searched


def levels(config: Config) -> Levels:
    """Risk from which tokens are highlighted. Raises UsageError for what does not go together."""
    from ragcli.methods.analysing import for_method
    from ragcli.methods.bases import combined
    from ragcli.render.risk import HIGH_FACTOR, Levels

    method = combined(config["method"], base=config["base"], select=config["select"])
    risky = for_method(parse(config.assignments), method).drag.delta
    return Levels(risky, risky * HIGH_FACTOR)


def stale_warnings(reader: Reader, documents: Sequence[Document]) -> list[str]:
    """A line where files changed, or went, since they were indexed."""
    from ragcli.index.staleness import since_indexed
    from ragcli.render.terminal import count, path_text

    changed = reader.stale(documents)
    if not changed:
        return []
    gone = [since_indexed(one) == "is gone" for one in changed]
    names = ", ".join(
        path_text(one.path) + (" is gone" if lost else "")
        for one, lost in zip(changed[:3], gone, strict=False)
    )
    more = ", …" if len(changed) > 3 else ""
    files = f"{count(len(changed), 'file')} {'changed or gone' if any(gone) else 'changed'}"
    return [
        f"{files} since indexing ({names}{more}); `ragcli index PATH` brings the index up to date"
    ]


def query(words: Sequence[str]) -> str:
    """The words as one query. Raises UsageError where nothing is asked for."""
    text = " ".join(words)
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("the query is empty", hint='say what to look for: ragcli search "words"')
    return text


def _say_once(env: Environment, name: str, text: str) -> None:
    """A remark that a user gets once, not at every run."""
    mark = user_cache_dir() / "said" / name
    if env.quiet or mark.exists():
        return
    env.note(text)
    with suppress(OSError):  # a cache that cannot be written: then it is said again
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


_SMALL = (
    "note: the bundled model is very small and makes mistakes; "
    "--verbatim gives the source sentences themselves; "
    "`ragcli models` lists better ones on this machine, `ragcli models pull` fetches one"
)
_MAKE = "`ragcli index FOLDER` makes one; --index DIR names one elsewhere"
