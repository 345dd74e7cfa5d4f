"""Mixes are answered once, kept, and counted; a scripted generator, then the bundled model."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.harness import invoke

from ragcli.cli.evaluation.simulate import _unread
from ragcli.errors import UsageError
from ragcli.evaluate.simulation.plots import draw
from ragcli.evaluate.simulation.pools import Pool, pools
from ragcli.evaluate.simulation.sampling import rates
from ragcli.evaluate.simulation.simulate import Design, Mix, Simulator, bounds, mixes, singles
from ragcli.evaluate.store import Store, read_rows
from ragcli.evaluate.types import Dataset, GivenPassage, Question
from tests.methods.fakes import FakeGenerator

DESIGN = Design(rates(3, "linear"), rates(3, "exponential"))


def question(id: str, answer: str) -> Question:
    return Question(
        id,
        f"Who kept the light of {id}?",
        (answer,),
        passages=(
            GivenPassage("0", f"Light of {id}", (f"{answer} kept it.", "It was red."), (True, False), "sentence"),
            GivenPassage("1", "Bees", ("A keeper has bees.", "Honey is sweet."), (False, False), "sentence"),
            GivenPassage("2", "Keepers", (f"{answer} came from Ribe.",), (True,), "sentence"),
        ),
    )  # fmt: skip


@pytest.fixture
def found() -> tuple[Pool, ...]:
    return pools(
        Dataset("few", (question("Rask", "Mira Oskan"), question("Holm", "Jon Berg")), own=True)
    )


@pytest.fixture
def generator() -> FakeGenerator:
    return FakeGenerator("Mira Oskan")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "out") as opened:
        yield opened


def test_pools_hold_sentences_in_order_under_their_titles(found: tuple[Pool, ...]) -> None:
    pool = found[0]
    assert pool.gold == (True, False, False, False, True)
    contexts = pool.contexts((0, 3, 4))
    assert [one.document.title for one in contexts] == ["Light of Rask", "Bees", "Keepers"]
    assert [s.text for one in contexts for s in one.sentences] == [
        "Mira Oskan kept it.", "Honey is sweet.", "Mira Oskan came from Ribe.",
    ]  # fmt: skip


def test_data_without_marks_is_refused() -> None:
    plain = Question("q", "Who?", ("I",), passages=(GivenPassage("0", "", ("Text.",)),))
    with pytest.raises(UsageError, match="nothing to simulate"):
        pools(Dataset("none", (plain,), own=True))


def test_baselines_are_not_capped_and_cells_are(found: tuple[Pool, ...]) -> None:
    design = Design(rates(2, "linear"), rates(2, "linear"), cap=2)
    none, full, gold = bounds(found[0], design)
    assert (none.chosen, len(full.chosen), gold.chosen) == ((), 5, (0, 4))
    assert len(mixes(found[0], design)[1.0, 1.0].chosen) == 2


def test_noisy_gold_judges_by_the_marks_that_are_left(found: tuple[Pool, ...]) -> None:
    design = Design(rates(2, "linear"), rates(2, "linear"), noisy_gold=True)
    assert len(mixes(found[0], design)[1.0, 0.0].chosen) == 1
    assert sum(bounds(found[0], design)[1].gold) == 1


def test_each_set_is_answered_once(
    found: tuple[Pool, ...], generator: FakeGenerator, store: Store, tmp_path: Path
) -> None:
    simulator = Simulator(generator, store)
    wanted = [len(simulator.wanted(pool, DESIGN)) for pool in found]
    made: list[int] = []
    done = list(simulator.run(found, DESIGN, tick=made.append))
    assert done == list(found)
    assert made[-1] == sum(wanted) < 2 * (len(DESIGN.cells) + 3)
    assert len(list(read_rows(tmp_path / "out"))) == sum(wanted)
    assert simulator.missing(found, DESIGN) == []
    more = Design(rates(5, "linear"), DESIGN.p_noise)
    assert len(simulator.missing(found, more)) < 2 * len(more.cells)
    simulator.close()


def test_points_are_means_over_the_questions(
    found: tuple[Pool, ...], generator: FakeGenerator, store: Store
) -> None:
    simulator = Simulator(generator, store)
    done = list(simulator.run(found, DESIGN))
    result = simulator.result(done, DESIGN)
    assert len(result.points) == 9
    corner = next(one for one in result.points if (one.p_gold, one.p_noise) == (1, 0))
    # the generator always says Mira Oskan: right for one question of two
    assert (corner.n, corner.kp, corner.kr, corner.em, corner.f1) == (2, 1, 1, 0.5, 0.5)
    assert result.baselines is not None
    assert result.baselines.full.kp == pytest.approx(2 / 5)
    assert (result.baselines.none.kr, result.baselines.none.sentences) == (0, 0)
    simulator.close()


def test_a_run_that_is_stopped_amid_a_question_counts_whole_ones_and_keeps_the_rest(
    found: tuple[Pool, ...], generator: FakeGenerator, store: Store, tmp_path: Path
) -> None:
    simulator = Simulator(generator, store)
    first, second = (len(simulator.wanted(pool, DESIGN)) for pool in found)
    asked: list[float] = []

    def stop(last: float) -> bool:
        asked.append(last)
        return len(asked) > first + 2

    done = list(simulator.run(found, DESIGN, stop=stop))
    assert [pool.question.id for pool in done] == ["Rask"]
    assert simulator.result(done, DESIGN).questions == 1
    assert len(list(read_rows(tmp_path / "out"))) == first + 2
    made: list[int] = []
    assert list(simulator.run(found, DESIGN, tick=made.append)) == list(found)
    assert made[-1] == second - 2
    simulator.close()


def test_a_row_that_a_kill_cut_short_is_made_again_and_no_other(
    found: tuple[Pool, ...], generator: FakeGenerator, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    with Store(folder) as opened:
        whole = Simulator(generator, opened)
        result = whole.result(list(whole.run(found, DESIGN)), DESIGN)
    file = folder / "rows.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    made: list[int] = []
    with Store(folder) as opened:
        again = Simulator(generator, opened)
        assert again.result(list(again.run(found, DESIGN, tick=made.append)), DESIGN) == result
    assert made == [1]


def test_sentences_alone(found: tuple[Pool, ...], generator: FakeGenerator, store: Store) -> None:
    design = Design(rates(2, "linear"), rates(2, "linear"), alone=True)
    simulator = Simulator(generator, store)
    result = simulator.result(list(simulator.run(found, design)), design)
    assert len(result.alone) == sum(len(singles(pool)) for pool in found) == 10
    assert sum(result.alone) == 5
    simulator.close()


def test_plots_are_the_same_bytes_for_the_same_numbers(
    found: tuple[Pool, ...], generator: FakeGenerator, store: Store, tmp_path: Path
) -> None:
    simulator = Simulator(generator, store)
    result = simulator.result(list(simulator.run(found, DESIGN)), DESIGN)
    assert result.baselines is not None
    drawn = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        drawn.append(draw(result.points, result.baselines, [0, 0.5, 1], folder))
    assert [file.name for file in drawn[0]] == [
        f"{name}.{kind}"
        for name in ("precision-recall", "metrics", "contours", "alone")
        for kind in ("png", "svg")
    ]
    for one, other in zip(*drawn, strict=True):
        assert one.stat().st_size > 2000
        assert one.read_bytes() == other.read_bytes()
    simulator.close()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "few.jsonl"
    rows = [
        {
            "id": id,
            "question": f"Who kept the light of {id}?",
            "answers": [answer],
            "passages": [
                {"title": f"Light of {id}", "sentences": [f"{answer} kept the light of {id}.", "It was red."], "gold": [1, 0]},
                {"title": "Bees", "sentences": ["A keeper has bees."], "gold": [0]},
            ],
        }
        for id, answer in (("Rask", "Mira Oskan"), ("Holm", "Jon Berg"))
    ]  # fmt: skip
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


@pytest.mark.model
def test_the_command_with_the_bundled_model(data: Path, tmp_path: Path) -> None:
    argv = ("eval", "simulate", "--data", str(data), "--grid", "2", "--threads", "1",
            "--out", str(tmp_path / "out"))  # fmt: skip
    first = invoke(*argv, "--json", "--plots")
    document = first.json("simulation@1")
    assert (document["questions"], len(document["points"])) == (2, 4)
    assert "answers to make" in first.err
    assert document["baselines"]["full"]["kr"] == 1
    assert (tmp_path / "out" / document["plots"][0]).is_file()
    again = invoke(*argv, "--json")
    assert "all answers are there already" in again.err
    assert again.json("simulation@1")["points"] == document["points"]
    text = invoke(*argv)
    assert "2 questions; answers in" in text.out
    assert text.out.splitlines()[0].split()[:4] == ["p", "gold", "p", "noise"]


@pytest.mark.model
def test_the_seed_of_the_command_line_draws_the_mixes(data: Path, tmp_path: Path) -> None:
    argv = ("eval", "simulate", "--data", str(data), "--grid", "2", "--threads", "1", "--json",
            "--out", str(tmp_path / "out"))  # fmt: skip
    seeds = [
        invoke(*argv, *given).json("simulation@1")["grid"]["seed"]
        for given in ((), ("--seed", "7"))
    ]
    assert seeds == [0, 7]


def test_bad_use_of_the_command(data: Path, tmp_path: Path) -> None:
    assert invoke("eval", "simulate", "--data", str(data), "--spacing", "round").code == 2
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"question": "Who?", "answers": ["I"]}', encoding="utf-8")
    result = invoke("eval", "simulate", "--data", str(bare))
    assert result.code == 2
    assert "nothing to simulate with" in result.err


def test_plots_without_their_package_are_one_clear_line(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = invoke("eval", "simulate", "--data", str(data), "--plots")
    assert result.code == 2
    assert "plots need the package matplotlib" in result.err
    assert "pip install 'ragcli[plots]'" in result.err


def test_the_estimate_counts_what_two_sets_begin_with_once(found: tuple[Pool, ...]) -> None:
    one, other = found
    sets = [(one, ()), (one, (0, 1, 2)), (one, (0, 1, 3)), (one, (1,)), (other, (1, 2))]
    missing = [Mix(pool, pool.gold, chosen) for pool, chosen in sets]
    assert list(_unread(missing)) == [0, 3, 1, 1, 2]


@pytest.mark.model
def test_questions_without_marks_are_left_out_and_counted(data: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    for passage in rows[1]["passages"]:
        passage["gold"] = [0] * len(passage["gold"])
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    result = invoke("eval", "simulate", "--data", str(data), "--grid", "2", "--threads", "1",
                    "--alone", "--cap", "1", "--out", str(tmp_path / "out"))  # fmt: skip
    assert result.code == 0
    assert "1 of 2 questions left out" in result.err
    assert "F1 of a sentence alone" in result.out
    assert "With at most 1 sentence " in result.out
    assert "1 question; answers in" in result.out
