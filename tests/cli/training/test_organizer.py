"""`ragcli train organizer` with the bundled generator and a small encoder, and what it gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.harness import invoke

ROWS = [
    ("Who kept the Sandholm light?", "Mira Oskan", "Mira Oskan kept the Sandholm light for years."),
    ("What is the tower built of?", "stone", "The tower of the light is built of stone."),
    ("When was the bridge built?", "1904", "The bridge over the Omm was built in 1904."),
    ("What did the ferry carry?", "coal", "The old ferry carried coal to the island."),
]
FAST = (
    "--max-pairs", "24", "--pairs", "2", "--threads", "1", "--set", "warm.epochs=1",
    "--set", "individual.epochs=1 integrated.epochs=1", "--set", "answers=1 development=0.3",
)  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Questions that bring their passages, one marked sentence each."""
    file = tmp_path_factory.mktemp("data") / "light.jsonl"
    passages = [{"title": answer, "sentences": [text, "Nobody remembers why that was so."]}
                for _, answer, text in ROWS]  # fmt: skip
    lines = [
        {
            "id": f"q{at}", "question": question, "answers": [answer],
            "passages": [{**one, "gold": [int(n == at), 0]} for n, one in enumerate(passages)],
        }
        for at, (question, answer, _) in enumerate(ROWS)
    ]  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    from tests.train.tiny import make_encoder

    words = " ".join(f"{q} {t}" for q, _, t in ROWS).lower().replace("?", " ?").split()
    return make_encoder(tmp_path_factory.mktemp("base") / "tiny", words)


@pytest.mark.model
def test_from_questions_to_an_answer(
    data: Path, base: Path, tmp_path: Path, inside: Path, bundled_model: Path
) -> None:
    out = tmp_path / "mine"
    command = ("train", "organizer", "--data", str(data), "--out", str(out), "--base", str(base),
               *FAST)  # fmt: skip
    told = invoke(*command, "--estimate")
    assert told.code == 0, told.err
    assert "orders to judge: about" in told.err
    estimated = invoke(*command, "--estimate", "--json")
    assert estimated.json("estimate@1")["training"] == 3
    assert not (out / "organiser.json").exists()
    result = invoke(*command, "--json")
    assert result.code == 0, result.err
    report = result.json("training@1")
    assert report["organizer"]["name"] == "mine"
    assert report["data"]["training"] + report["data"]["development"] == len(ROWS)
    assert report["data"]["with_gold"] == len(ROWS)
    assert report["data"]["pairs"] <= 24
    assert {one["stage"] for one in report["epochs"]} == {"warm", "individual", "integrated"}
    assert sorted(file.name for file in out.iterdir()) == [
        "README.md", "feedback.jsonl", "organiser.json", "organiser.safetensors", "report.json",
    ]  # fmt: skip
    assert "Held aside" in (out / "README.md").read_text()
    asked = len((out / "feedback.jsonl").read_text().splitlines())
    again = invoke(*command)
    assert again.code == 0, again.err
    assert "has 0 sentences" in again.err
    assert report["organizer"]["sha256"][:12] in again.out  # the same seed, the same organizer
    assert len((out / "feedback.jsonl").read_text().splitlines()) == asked
    answer = invoke(
        "ask", ROWS[0][0], "--method", "ko-rag", "--organizer", str(out), "--json", "--force",
        "--max-tokens", "4", "--threads", "1",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    organized = answer.json("answer@1")["provenance"]["organized"]
    assert organized["sha256"] == report["organizer"]["sha256"]
    _goes_on(data, out, tmp_path)


def _goes_on(data: Path, before: Path, folder: Path) -> None:
    """From a finished organizer, with two files whose questions have the same ids."""
    other = folder / "other" / data.name
    other.parent.mkdir()
    other.write_bytes(data.read_bytes())
    result = invoke(
        "train", "organizer", "--data", str(data), "--data", str(other), "--from", str(before),
        "--out", str(folder / "further"), "--stages", "warm", *FAST, "--json",
    )  # fmt: skip
    assert result.code == 0, result.err
    report = result.json("training@1")
    assert (
        report["start"] == json.loads((before / "report.json").read_text())["organizer"]["sha256"]
    )
    assert report["data"]["training"] + report["data"]["development"] == 2 * len(ROWS)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--stages", "first"), "unknown stage: first"),
        (("--stages", ","), "no stage"),
        (("--set", "warm.rat=1"), "did you mean warm.rate"),
        (("--set", "warm.rate=2"), "from 0 to 1"),
        (("--set", "answers=many"), "from 0 to"),
        (("--base", "nowhere"), "no encoder in nowhere"),
        (("--from", "somewhere", "--layers", "3"), "brings its encoder and layers"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_opened(
    data: Path, tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    argv = ("train", "organizer", "--data", str(data), "--out", str(tmp_path / "x"), *flags)
    result = invoke(*argv, "--model", "nowhere.gguf")
    assert result.code == 2
    assert said in result.err
    assert not (tmp_path / "x").exists()


def test_files_of_somebody_else_are_left_alone(data: Path, tmp_path: Path) -> None:
    mine = tmp_path / "README.md"
    mine.write_text("mine")
    argv = ("train", "organizer", "--data", str(data), "--model", "nowhere.gguf", "--out")
    result = invoke(*argv, str(tmp_path))
    assert result.code == 2
    assert "is there already" in result.err
    assert mine.read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["README.md"]


@pytest.mark.parametrize("out", ["/dev/null/x", "/proc/x"])
def test_where_nothing_can_be_written_is_said_at_once(data: Path, tmp_path: Path, out: str) -> None:
    for argv in (
        ("organizer", "--data", str(data), "--out", out),
        ("analyzer", "--data", str(data), "--out", f"{out}.gguf"),
        ("questions", "--out", f"{out}.jsonl", "--index", str(tmp_path)),
    ):
        result = invoke("train", *argv, "--model", "nowhere.gguf")
        assert result.code == 2, argv
        assert "cannot write into" in result.err


def test_a_file_named_twice_is_refused(data: Path, tmp_path: Path) -> None:
    argv = ("train", "organizer", "--data", str(data), "--data", str(data))
    result = invoke(*argv, "--model", "nowhere.gguf", "--out", str(tmp_path / "x"))
    assert result.code == 2
    assert "named twice" in result.err


def test_the_group_explains_itself() -> None:
    result = invoke("train")
    assert result.code == 0
    assert "organizer" in result.out
