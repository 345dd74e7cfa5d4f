"""Questions answered with the bundled models on real files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragcli.cite.verify import LexicalVerifier, LlmVerifier, open_verifier, verdict
from ragcli.encoders import open_encoder, resolve_encoder
from ragcli.encoders.base import Encoder
from ragcli.events import Finished
from ragcli.index.reader import Reader
from ragcli.index.update import update
from ragcli.llm.base import Generator
from ragcli.llm.llama import open_generator
from ragcli.methods.registry import METHODS, settings_from
from ragcli.methods.run import Asker, AskOptions
from ragcli.types import Answer, Verdict

pytestmark = pytest.mark.model

NOTES = {
    "island.md": "Mira Oskan was the first keeper of the Sandholm light. She kept bees.\n",
    "boiler.md": "# Boiler\n\nThe boiler pressure limit is 3 bar. It must be drained in October.\n",
    "valve.txt": "The valve in room 20 is opened by turning it 22 times to the left.\n",
    "export.txt": "The export was made by the night shift.\n",
}


@pytest.fixture(scope="module")
def generator(bundled_model: Path) -> Iterator[Generator]:
    with open_generator(bundled_model, threads=2, gpu_layers=0, n_ctx=2048) as opened:
        yield opened


@pytest.fixture(scope="module")
def encoder(bundled_encoder_dir: Path) -> Callable[[], Encoder]:
    opened = open_encoder(resolve_encoder(str(bundled_encoder_dir)))
    return lambda: opened


def index(folder: Path, encoder: Callable[[], Encoder], names: list[str]) -> Reader:
    docs = folder / "docs"
    docs.mkdir()
    for name in names:
        (docs / name).write_text(NOTES[name], encoding="utf-8")
    for _ in update(folder / "index", [docs], encoder=encoder):
        pass
    return Reader.open(folder / "index", encoder)


@pytest.fixture(scope="module")
def island(
    tmp_path_factory: pytest.TempPathFactory, encoder: Callable[[], Encoder]
) -> Iterator[Reader]:
    with index(tmp_path_factory.mktemp("island"), encoder, ["island.md"]) as reader:
        yield reader


@pytest.fixture(scope="module")
def notes(
    tmp_path_factory: pytest.TempPathFactory, encoder: Callable[[], Encoder]
) -> Iterator[Reader]:
    with index(tmp_path_factory.mktemp("notes"), encoder, list(NOTES)) as reader:
        yield reader


def ask(
    reader: Reader, generator: Generator, question: str, method: str = "plain", **options: str
) -> Answer:
    settings = settings_from(["sampling.max_tokens=48"])
    with Asker(reader, generator, settings, AskOptions(**options)) as asker:  # type: ignore[arg-type]
        *_, last = asker.ask(question, METHODS[method])
    assert isinstance(last, Finished)
    return last.answer


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Italy?",
        "Who was the second keeper of the Sandholm light?",
        "When did Mira Oskan die?",
        "How many children did Mira Oskan have?",
        "Where was Mira Oskan born?",
        "What colour is the Sandholm light?",
    ],
)
def test_what_is_not_there_is_not_answered(
    island: Reader, generator: Generator, question: str
) -> None:
    answer = ask(island, generator, question)
    assert answer.abstained
    assert answer.reason
    assert (answer.text, answer.sentences) == ("", ())


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who was the first keeper?", "Mira Oskan"),
        ("What is the boiler's pressure limit?", "3 bar"),
        ("How is the valve in room 20 opened?", "22 times"),
        ("Who made the export?", "night shift"),
    ],
)
def test_what_is_there_is_answered_and_cited(
    notes: Reader, generator: Generator, question: str, expected: str
) -> None:
    answer = ask(notes, generator, question)
    assert not answer.abstained, answer.reason
    cited = [c for sentence in answer.sentences for c in sentence.citations]
    assert any(expected in citation.sentence.text for citation in cited)
    for citation in cited:
        text = notes.text(citation.document.id, citation.sentence.start, citation.sentence.end)
        assert text == citation.sentence.text


@pytest.mark.parametrize("decode", ["fke", "drag", "cad"])
def test_decoders_answer_and_give_attention(
    notes: Reader, generator: Generator, decode: str
) -> None:
    method = "fke" if decode == "fke" else "plain"
    answer = ask(notes, generator, "What is the boiler's pressure limit?", method, decode=decode)
    assert answer.steps
    assert all(len(step.attention) == len(answer.selected) for step in answer.steps)
    assert answer.provenance["decode"] == decode


def test_the_same_question_gives_the_same_answer(notes: Reader, generator: Generator) -> None:
    question = "How is the valve in room 20 opened?"
    first, second = (ask(notes, generator, question) for _ in range(2))
    assert first.text == second.text
    assert first.provenance == second.provenance


def test_verifiers_on_pairs(generator: Generator) -> None:
    premises = ["The boiler pressure limit is 3 bar."] * 2
    claims = ["The pressure limit of the boiler is 3 bar.", "The valve is painted green."]
    lexical = LexicalVerifier()
    assert [verdict(lexical, s) for s in lexical.entails(premises, claims)] == [
        Verdict.SUPPORTED, Verdict.UNSUPPORTED,
    ]  # fmt: skip
    llm = open_verifier("llm", generator)
    assert isinstance(llm, LlmVerifier)
    scores = llm.entails(premises, claims)
    assert all(0 <= score <= 1 for score in scores)
    assert llm.entails([], []) == []
    assert llm.name.startswith("llm:")
