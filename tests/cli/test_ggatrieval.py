"""`ask --method ggatrieval` and `--verbatim` with the bundled models."""

from pathlib import Path

import pytest

from .harness import invoke

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("bundled_model")]
THERE = "Who was the first keeper?"
NOT_THERE = (
    "What is the capital of Italy?",
    "Who was the second keeper of the Sandholm light?",
    "When did Mira Oskan die?",
)


@pytest.fixture
def island(cases, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke("index", str(cases / "25")).code == 0


@pytest.mark.usefixtures("island")
@pytest.mark.parametrize("verbatim", [True, False])
def test_25_answer_not_in_the_documents(verbatim):
    flags = ["--method", "ggatrieval", *(["--verbatim"] if verbatim else ["--max-tokens", "40"])]
    for question in NOT_THERE:
        result = invoke("ask", question, *flags, "--json")
        answer = result.json("answer@1")
        assert (result.code, answer["abstained"], answer["sentences"]) == (1, True, []), question
        assert answer["trace"]["iterations"]
    found = invoke("ask", THERE, *flags)
    assert found.code == 0
    assert "Mira Oskan" in found.out
    assert "[1]" in found.out


@pytest.mark.usefixtures("inside")
def test_alignment_in_the_json_resolves_to_the_file():
    answer = invoke("ask", THERE, "--method", "ggatrieval", "--verbatim", "--json").json("answer@1")
    assert answer["model"] is None
    assert [one["text"] for one in answer["trace"]["constituents"]] == ["Who", "the first keeper"]
    assert answer["hits"][0]["alignment"]["label"] == "full"
    for hit in answer["hits"]:
        text = Path(hit["path"]).read_text()
        for one in hit["alignment"]["matched"]:
            assert THERE[one["start"] : one["end"]] == one["text"]
            if (place := one["segment"]) is not None:
                assert text[place["start"] : place["end"]] == place["text"]
    for sentence in answer["sentences"]:
        (cited,) = sentence["citations"]
        assert (sentence["text"], cited["score"], cited["verdict"]) == (
            cited["text"],
            1,
            "supported",
        )


@pytest.mark.usefixtures("inside")
def test_explained():
    out = invoke("ask", THERE, "--method", "ggatrieval", "--verbatim", "--explain").out
    assert "the first keeper → “first keeper”" in out
    assert "Rounds (encoder: " in out
    assert "ended: the passages kept suffice" in out


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize("select", [None, "rank", "similar", "drag", "ggatrieval"])
def test_any_selector_can_be_quoted(select):
    flags = ["--select", select] if select else []
    answer = invoke("ask", THERE, "--verbatim", "--json", *flags).json("answer@1")
    assert not answer["abstained"]
    assert all(one["citations"][0]["text"] == one["text"] for one in answer["sentences"])
    assert "Mira Oskan was the first keeper of the Sandholm light." in answer["answer"]


@pytest.mark.usefixtures("inside")
def test_nothing_to_quote_without_documents():
    result = invoke("ask", THERE, "--verbatim", "--method", "closed-book")
    assert result.code == 2
    assert "no documents to quote" in result.err


@pytest.mark.slow
@pytest.mark.usefixtures("inside")
def test_with_the_generator_as_judge():
    answer = invoke(
        "ask", THERE, "--method", "ggatrieval", "--verbatim", "--force", "--json",
        "--set", "ggatrieval.backend=generator", "--set", "ggatrieval.iterations=2",
    ).json("answer@1")  # fmt: skip
    assert answer["model"] is not None
    assert "generator: " in answer["trace"]["by"]
    assert all(one["alignment"]["aligner"].startswith("generator:") for one in answer["hits"])
    question = answer["question"]
    for one in answer["trace"]["constituents"]:
        assert question[one["start"] : one["end"]] == one["text"]


@pytest.mark.usefixtures("inside")
def test_verbatim_decodes_nothing(monkeypatch: pytest.MonkeyPatch):
    result = invoke("ask", THERE, "--verbatim", "--decode", "fke", "--model", "nowhere.gguf")
    assert result.code == 2
    assert "nothing to decode" in result.err
    monkeypatch.setenv("RAGCLI_DECODE", "fke")  # a standing wish is no contradiction
    assert invoke("ask", THERE, "--verbatim").code == 0
