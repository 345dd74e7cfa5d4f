"""`--method ko-rag` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcli.encoders.files import BUNDLED_NAME, content_hash
from ragcli.encoders.organiser_files import Base, OrganiserConfig, write_organiser

from .harness import invoke

QUESTION = "Who was the first keeper of the Sandholm light?"
QUESTIONS = (QUESTION, "What is the pressure limit of the boiler?", "When is the boiler drained?")


@pytest.fixture(scope="session")
def organizer(bundled_encoder_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that was never trained, of a single layer."""
    import torch

    from ragcli.encoders.organiser_model import arrays_of, load_model

    base = Base(BUNDLED_NAME, content_hash(bundled_encoder_dir))
    config = OrganiserConfig("untrained", base, layers=1, precision="float32")
    torch.manual_seed(0)
    model = load_model(bundled_encoder_dir, config)
    original = {name: value.detach().numpy().copy() for name, value in model.own().items()}
    folder = tmp_path_factory.mktemp("organizer") / "untrained"
    write_organiser(folder, config, arrays_of(model, original))
    return folder


@pytest.mark.model
def test_three_questions(inside: Path, organizer: Path, bundled_model: Path) -> None:
    result = invoke(
        "ask", "-", "--method", "ko-rag", "--organizer", str(organizer), "--force", "--json",
        "--max-tokens", "12", "--threads", "1", stdin="\n".join(QUESTIONS),
    )  # fmt: skip
    assert result.code == 0, result.err
    answers = result.json("answers@1")["answers"]
    assert len(answers) == len(QUESTIONS)
    for answer in answers:
        organized = answer["provenance"]["organized"]
        assert organized["name"] == "untrained"
        assert len(organized["sha256"]) == 64
        kept = [one["score"] for one in organized["sentences"] if one["kept"]]
        shown = [one["score"] for one in answer["selected"]]
        assert shown == sorted(kept, reverse=True)
        assert "organizer untrained (" in answer["provenance"]["selected_by"]
        for one in answer["selected"]:
            assert Path(one["path"]).read_text()[one["start"] : one["end"]] == one["text"]
    again = invoke(
        "ask", QUESTION, "--select", "ko-rag", "--base", "crag", "--force", "--max-tokens", "4",
        "--threads", "1", "--json", environ={"RAGCLI_ORGANIZER": str(organizer)},
    )  # fmt: skip
    assert again.code == 0, again.err
    assert again.json("answer@1")["provenance"]["organized"]["name"] == "untrained"


@pytest.mark.model
def test_the_bundled_one(inside: Path, bundled_model: Path) -> None:
    result = invoke(
        "ask", QUESTION, "--method", "ko-rag", "--force", "--json", "--max-tokens", "4",
        "--threads", "1",
    )  # fmt: skip
    assert result.code == 0, result.err
    answer = result.json("answer@1")
    organized = answer["provenance"]["organized"]
    assert organized["name"] == "ragcli-minilm-4"
    assert len(answer["selected"]) >= 3
    scores = [one["score"] for one in organized["sentences"]]
    assert min(scores) < organized["placeholder"] < max(scores)


def test_without_one_it_says_how_to_train_it(inside: Path, monkeypatch) -> None:
    monkeypatch.setattr("ragcli.encoders.organiser.shipped_organiser", lambda: None)
    model = ("--model", "nowhere.gguf")  # would be complained of next
    for flags in (
        ("--method", "ko-rag"),
        ("--select", "ko-rag"),
        ("--select", "ko-rag", "--base", "crag"),
    ):
        result = invoke("ask", *flags, *model, QUESTION)
        assert result.code == 4
        assert "no organizer" in result.err
        assert "ragcli train organizer" in result.err
        assert "nowhere.gguf" not in result.err


@pytest.mark.parametrize("name", ["missing", "boiler.md", "."])
def test_what_is_no_organizer_is_refused(inside: Path, name: str) -> None:
    result = invoke("ask", "--method", "ko-rag", "--organizer", name, QUESTION)
    assert result.code == 4
    assert "not an organizer" in result.err


def test_where_nothing_reads_it_it_is_refused(inside: Path) -> None:
    result = invoke("ask", "--organizer", "anything", QUESTION)
    assert result.code == 2
    assert "--select ko-rag" in result.err


def test_a_folder_that_came_from_elsewhere_names_none(copied: Path) -> None:
    (copied / ".ragcli" / "config.toml").write_text('organizer = "evil"\n')
    result = invoke("ask", "--index", str(copied / ".ragcli"), QUESTION)
    assert result.code == 2
    assert "organizer" in result.err
