"""`ask --base` and `methods crag|dragin` with the bundled models."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import invoke

THERE = "Who was the first keeper?"
WORDED_APART = "Which animals lived with Mira?"


@pytest.mark.model
@pytest.mark.usefixtures("inside", "bundled_model")
@pytest.mark.parametrize("method", ["plain", "fke"])
def test_crag_answers_from_strips(method: str) -> None:
    result = invoke("ask", THERE, "--method", method, "--base", "crag", "--json",
                    "--max-tokens", "24")  # fmt: skip
    answer = result.json("answer@1")
    assert result.code == 0
    assert answer["provenance"]["base"] == "crag"
    assert "retrieval judged correct" in answer["provenance"]["selected_by"]
    assert "refined to strips" in answer["provenance"]["selected_by"]
    for source in answer["selected"]:
        text = Path(source["path"]).read_text(encoding="utf-8")
        assert text[source["start"] : source["end"]] == source["text"]


@pytest.mark.model
@pytest.mark.usefixtures("inside", "bundled_model")
def test_crag_says_what_stands_in_for_the_web_search() -> None:
    result = invoke("ask", WORDED_APART, "--base", "crag", "--verbatim", "--force", "--explain")
    assert result.code == 0
    assert "stands in for a web search" in result.err
    assert "wider local retrieval in place of web search" in " ".join(result.out.split())


@pytest.mark.model
@pytest.mark.usefixtures("inside", "bundled_model")
@pytest.mark.parametrize("method", ["plain", "fke"])
def test_dragin_retrieves_again_where_the_model_is_unsure(method: str) -> None:
    """With a threshold of almost nothing every sentence asks; rounds bound it."""
    flags = ("--method", method, "--base", "dragin", "--set", "dragin.theta=0.001",
             "--set", "dragin.rounds=2", "--set", "retrieval.k=1", "--force",
             "--max-tokens", "40")  # fmt: skip
    answer = invoke("ask", THERE, *flags, "--json").json("answer@1")
    retrievals = answer["provenance"]["retrievals"]
    assert 1 <= len(retrievals) <= 2
    for again in retrievals:
        assert again["score"] > 0.001
        assert again["query"]
        assert 0 <= again["step"] <= len(answer["tokens"])
    assert "keeper" in retrievals[0]["query"]
    widths = {len(token["attention"]) for token in answer["tokens"]}
    assert len(widths) == 1
    assert widths <= {len(answer["selected"]), *range(len(answer["selected"]))}
    again = invoke("ask", THERE, *flags, "--json").json("answer@1")
    assert (again["answer"], again["provenance"]) == (answer["answer"], answer["provenance"])
    out = invoke("ask", THERE, *flags, "--explain").out
    assert f"Retrieved again ({len(retrievals)})" in out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--method", "closed-book", "--base", "crag"], "no base to put it on"),
        (["--method", "ggatrieval", "--base", "crag"], "--select ggatrieval"),
        (["--base", "dragin", "--verbatim"], "generates none"),
        (["--base", "drag"], "did you mean dragin"),
    ],
)
def test_refused_before_anything_is_loaded(
    flags: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # not even an index here, which would be another error
    result = invoke("ask", "x", *flags, "--model", str(tmp_path / "missing.gguf"))
    assert (result.code, result.out) == (2, "")
    assert message in result.err


@pytest.mark.parametrize("name", ["crag", "dragin"])
def test_methods_are_explained(name: str) -> None:
    out = invoke("methods", name).out
    assert "appendix A." in out
    assert f"{name}." in out
    document = invoke("methods", "--json").json("methods@1")
    assert [base["name"] for base in document["bases"]] == ["plain", "crag", "dragin"]
    assert name in [method["name"] for method in document["methods"]]
