"""`ragcli train organizer`: KO-RAG's organizer, from one's own questions and generator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragcli.cli import config as configuration
from ragcli.cli import engine, options
from ragcli.cli.environment import Environment
from ragcli.cli.evaluation.run import corpus_of
from ragcli.cli.training.telling import Bars, estimated, long, show
from ragcli.errors import UsageError

if TYPE_CHECKING:
    from ragcli.cli.config import Config
    from ragcli.encoders.organiser_files import OrganiserConfig
    from ragcli.evaluate.types import Dataset
    from ragcli.train.examples import Example
    from ragcli.train.options import TrainOptions
    from ragcli.train.organizer import Training
    from ragcli.train.plan import Plan


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(organizer)


def organizer(
    ctx: typer.Context,
    data: Annotated[
        list[Path],
        typer.Option("--data", metavar="FILE", help="Questions, JSON lines; may be repeated."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the organizer.")],
    corpus: options.Corpora = None,
    index: options.IndexDir = None,
    limit: options.LimitOfParts = None,
    base: Annotated[
        Path | None,
        typer.Option("--base", metavar="DIR", help="Encoder to train (default: the bundled one)."),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Organizer to go on from."),
    ] = None,
    layers: Annotated[
        int | None,
        typer.Option("--layers", metavar="N", min=1, max=96, help="Its layers in use, not all."),
    ] = None,
    stages: Annotated[
        str, typer.Option("--stages", metavar="S,…", help="Of warm, individual, integrated.")
    ] = "warm,individual,integrated",
    max_pairs: Annotated[
        int,
        typer.Option("--max-pairs", metavar="N", min=1, help="Sentences the generator judges."),
    ] = 8000,
    candidates: Annotated[
        int, typer.Option("--candidates", metavar="N", min=2, max=200, help="Of a question.")
    ] = 24,
    pairs: Annotated[
        int, typer.Option("--pairs", metavar="N", min=1, help="Orders the generator compares.")
    ] = 400,
    feedback: Annotated[
        Path | None,
        typer.Option("--feedback", metavar="FILE", help="Its judgements (default: in --out)."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Such as warm.epochs=2; may be repeated."),
    ] = None,
    estimate_only: Annotated[
        bool, typer.Option("--estimate", help="Say what it will take, and train nothing.")
    ] = False,
    model: options.Model = None,
    encoder: options.Encoder = None,
    threads: options.Threads = None,
    seed: options.Seed = None,
    gpu_layers: options.GpuLayers = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> int:
    """Train an organizer, which orders sentences for a generator and says where to stop.

    The generator judges single sentences, then orders of them. What it said is kept, and a
    training that was stopped goes on when it is called again. `--from DIR` trains a finished
    organizer further. `ragcli ask --method ko-rag --organizer DIR` uses the result.
    """
    from ragcli.train.options import TrainOptions, assigned, parse_stages

    env = options.environment(ctx)
    config = configuration.load(env, {**ctx.params, "settings": None, "base": None, "start": None})
    chosen = assigned(
        TrainOptions(seed=seed or 0, stages=parse_stages(stages), pairs=pairs, max_pairs=max_pairs),
        settings or (),
    )
    shape = _shape(base, layers, out) if start is None else _known(start, base, layers, out)
    _check_folder(out)
    made = _plan(env, config, _Data(data, tuple(corpus or ()), limit, candidates), chosen)
    with _training(env, config, made, shape, out, feedback, start) as training:
        return _run(env, training, shape.name, estimate_only, as_json)


class _Data:
    """Where the questions are. limit: of each file."""

    def __init__(
        self,
        files: Sequence[Path],
        corpora: tuple[Path, ...],
        limit: int | None,
        candidates: int,
    ) -> None:
        self.files, self.corpora = files, corpora
        self.limit, self.candidates = limit, candidates

    def examples(self, env: Environment, config: Config) -> list[Example]:
        """Of all files; ids are told apart by the files' names where there are several.

        Raises UsageError, IndexMissing, IndexUnusable.
        """
        from ragcli.evaluate.datasets import load

        if len({file.resolve() for file in self.files}) < len(self.files):
            raise UsageError("a file of questions is named twice", hint="--data FILE once a file")
        sets = [load(file, self.limit, self.corpora) for file in self.files]
        names = [one.name for one in sets]
        found = [self._of(env, config, one) for one in sets]
        if len(found) == 1:
            return found[0]
        return [
            replace(one, id=f"{name}{'+' * names[:at].count(name)}/{one.id}")
            for at, (name, of_set) in enumerate(zip(names, found, strict=True))
            for one in of_set
        ]

    def _of(self, env: Environment, config: Config, dataset: Dataset) -> list[Example]:
        from ragcli.cli.training.data import gather

        with (
            corpus_of(config, env, dataset) as corpus,
            Bars(env).one("questions", len(dataset.questions)) as tick,
        ):
            return gather(corpus, dataset.questions, self.candidates, tick)


def _shape(base: Path | None, layers: int | None, out: Path) -> OrganiserConfig:
    """What is to be trained. Raises ModelError, UsageError."""
    from ragcli.encoders.files import BUNDLED_NAME, bundled_folder, content_hash, layers_of
    from ragcli.encoders.organiser_files import NEEDED, Base, OrganiserConfig
    from ragcli.paths import shown

    if base is None:
        known = Base(BUNDLED_NAME, content_hash(bundled_folder()))
    elif not all((base / name).is_file() for name in NEEDED):
        raise UsageError(
            f"there is no encoder in {shown(base)}",
            hint=f"a folder of a Hugging Face encoder, with {', '.join(NEEDED)}",
        )
    else:
        folder = base.resolve()
        known = Base(folder.name, content_hash(folder), str(folder))
    used = layers or layers_of(base or bundled_folder())
    return OrganiserConfig(out.resolve().name, known, layers=used)


def _known(start: Path, base: Path | None, layers: int | None, out: Path) -> OrganiserConfig:
    """The shape of the organizer to go on from. Raises ModelError, UsageError."""
    from ragcli.encoders.organiser_files import read_organiser

    if base is not None or layers is not None:
        raise UsageError(
            "--from brings its encoder and layers", hint="leave out --base and --layers"
        )
    return replace(read_organiser(start).config, name=out.resolve().name, training={})


def _check_folder(out: Path) -> None:
    """Raises UsageError before anything is loaded."""
    from ragcli.encoders.organiser_files import CONFIG, WEIGHTS
    from ragcli.paths import shown
    from ragcli.train.outputs import check_ours, check_writable

    if out.exists() and not out.is_dir():
        raise UsageError(f"{shown(out)} is no folder", hint="--out DIR is made if it is not there")
    names = ("report.json", "README.md", CONFIG, WEIGHTS)
    check_ours([out / name for name in names], out / "report.json", "ragcli/training@1")
    check_writable(out)


def _plan(env: Environment, config: Config, data: _Data, chosen: TrainOptions) -> Plan:
    from ragcli.train.plan import plan

    made = plan(data.examples(env, config), chosen)
    asked = len(made.requests)
    judged = f"; the generator judges {asked} sentences of {len(made.scored)}" if asked else ""
    env.note(
        f"{len(made.training)} questions to learn from, {len(made.development)} held aside{judged}"
    )
    return made


@contextmanager
def _training(
    env: Environment,
    config: Config,
    made: Plan,
    shape: OrganiserConfig,
    out: Path,
    feedback: Path | None,
    start: Path | None,
) -> Iterator[Training]:
    import os

    from ragcli.encoders.organiser_files import base_folder

    with closing(engine.generator(config, env)) as generator:
        env.note("loading what trains the organizer")
        os.environ["HF_HUB_OFFLINE"] = "1"
        from ragcli.train.organizer import Training
        from ragcli.train.scorer import Scorer

        scorer = Scorer(
            base_folder(shape.base), shape, seed=made.options.seed, threads=engine.threads(config),
            start=start,
        )  # fmt: skip
        with Bars(env) as bars:
            yield Training(made, scorer, generator, out, feedback=feedback, watch=bars.watch)


def _run(
    env: Environment, training: Training, name: str, estimate_only: bool, as_json: bool
) -> int:
    from ragcli.paths import shown
    from ragcli.train.plan import estimate

    if training.resumed:
        env.note("going on where an earlier run stopped")
    cost = estimate(training.plan, training.feedback, training.scorer)
    env.note(
        f"the generator has {cost.prompts} sentences and about {cost.orders} orders to judge:"
        f" {long(cost.feedback_seconds)}; training takes {long(cost.training_seconds)}"
    )
    if estimate_only:
        if as_json:
            parts = len(training.plan.training), len(training.plan.development)
            env.json(estimated("organizer", *parts, cost.seconds))
        return 0
    report = training.run(name)
    if as_json:
        env.json(report)
    else:
        show(env.printer(), report, shown(training.folder))
    return 0
