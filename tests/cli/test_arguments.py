import pytest

from ragcli.cli.arguments import arrange, wants_json

from .harness import invoke


@pytest.mark.parametrize(
    ("typed", "arranged"),
    [
        ([], []),
        (["search", "x"], ["search", "x"]),
        (["--json", "search", "x"], ["search", "--json", "x"]),
        (["-q", "--index", "d", "--seed=3", "ask", "q"], ["ask", "-q", "--index", "d", "--seed=3", "q"]),
        (["--version"], ["--version"]),
        (["--json"], ["--json"]),
        (["--json", "--help"], ["--json", "--help"]),
        (["--index"], ["--index"]),
        (["search", "--", "--json", "--set"], ["search", "--", "--json", "--set"]),
        (["ask", "q", "--set", "a.b=1", "c.d=2", "rest"],
         ["ask", "q", "--set", "a.b=1", "--set", "c.d=2", "rest"]),
        (["ask", "--set=a.b=1", "c.d=2", "why a=b?"],
         ["ask", "--set=a.b=1", "--set", "c.d=2", "why a=b?"]),
        (["ask", "--set", "a.b=1", "is a.b=1 c true?"], ["ask", "--set", "a.b=1", "is a.b=1 c true?"]),
        (["ask", "--set", "a.b=1", "-k", "3", "c.d=2"], ["ask", "--set", "a.b=1", "-k", "3", "c.d=2"]),
    ],
)  # fmt: skip
def test_arrange(typed, arranged):
    assert arrange(typed) == arranged


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        (["search", "x", "--json"], True),
        (["--jsonl", "search"], True),
        (["search", "--", "--json"], False),
        (["search", "json"], False),
    ],
)
def test_wants_json(typed, wanted):
    assert wants_json(typed) is wanted


@pytest.mark.parametrize("command", [("ask", "x"), ("ask", "-"), ("search", "x"), ("index", ".")])
@pytest.mark.parametrize("forms", [("--json", "--jsonl"), ("--jsonl", "--json")])
def test_one_form_of_output(command, forms):
    result = invoke(*command, *forms)
    assert (result.code, result.json("error@1")["code"]) == (2, "usage")
    assert "--jsonl" in result.err
