"""`ragcli verify`: sentences must not be weaker than they were, whoever judges."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cite.saved import answer, citation, sentence
from tests.cli.harness import invoke
from tests.cli.verifying.house import CODE, SAID, first, save, verify


@pytest.mark.parametrize(
    ("said", "verdict", "code", "strict"),
    [
        ("The code is 9999.", "supported", 6, 6),
        ("The code is 9999.", "partly", 0, 6),
        ("The safe was bought in 1970.", "unsupported", 0, 6),
        ("The safe was bought in 1970.", "partly", 6, 6),
        (SAID, "unsupported", 0, 0),
    ],
)
def test_a_sentence_must_not_be_weaker_than_it_was(
    house: Path, tmp_path: Path, said: str, verdict: str, code: int, strict: int
) -> None:
    save(
        tmp_path, answer(sentence(said, citation(house / "door.md", CODE), verdict=verdict))
    )  # fmt: skip
    assert (verify()[0], verify("--strict")[0]) == (code, strict)


def test_an_altered_answer(house: Path, tmp_path: Path) -> None:
    cited = sentence(SAID, citation(house / "door.md", CODE))
    save(tmp_path, answer(cited, text="The code is 9999."))
    code, document = verify()
    assert code == 6
    assert document["answers"][0]["failures"] == [
        "sentence 1 is not what the answer says at its place"
    ]


def test_a_quote_that_never_was_there(house: Path, tmp_path: Path) -> None:
    cited = citation(house / "door.md", CODE, text="The door code is 9999.")
    save(tmp_path, answer(sentence("The code is 9999.", cited)))
    code, document = verify()
    assert (code, first(document)["status"], first(document)["edited"]) == (6, "changed", False)


def test_headings_count_as_far_as_they_are_there(house: Path, tmp_path: Path) -> None:
    gate, quote = house / "gate.md", "Its code is 4711."
    gate.write_text(f"# Northgate\n\n{quote}\n")
    said = sentence("The code of Northgate is 4711.", citation(gate, quote, heading="Northgate"))
    save(tmp_path, answer(said))
    assert verify()[0] == 0
    gate.write_text(f"# Southgate\n\n{quote}\n")
    code, document = verify()
    assert first(document)["status"] == "fresh"
    assert (code, document["answers"][0]["failures"]) == (6, ["1 sentence no longer supported"])


def test_a_source_sentence_itself_is_supported_whatever_judges(house: Path, tmp_path: Path) -> None:
    """What `ask --verbatim` gives, and the quotation that stands where an answer does not."""
    cited = sentence("The roof is red.", citation(house / "roof.md", "The roof is red."))
    origin = {"verifier": "none: source sentences", "language": "en"}
    save(tmp_path, answer(cited, question="Which code?", provenance=origin))
    assert verify()[0] == 0
    (house / "roof.md").write_text("The roof is blue.\n")
    assert verify()[0] == 6


def test_judges(house: Path, tmp_path: Path) -> None:
    cited = sentence(SAID, citation(house / "door.md", CODE))
    for name, hint in (("nli:minilm", "nli:PATH"), ("crystal ball", "lexical")):
        save(tmp_path, answer(cited, provenance={"verifier": name}))
        result = invoke("verify", "answer.json")
        assert result.code == 2
        assert hint in result.err
        assert invoke("verify", "answer.json", "--verifier", "lexical").code == 0
    assert invoke("verify", "answer.json", "--verifier", "x").code == 2
    assert invoke("verify", "answer.json", "--verifier", "nli:nowhere").code == 4
