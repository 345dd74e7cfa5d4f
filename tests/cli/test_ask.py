"""`ragcli ask` with the bundled model: a few runs, each looked at from several sides."""

import json
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .harness import invoke, process
from .test_cases import QUERIES
from .test_process import NO_SOCKETS

pytestmark = [pytest.mark.model, pytest.mark.usefixtures("inside", "bundled_model")]
FIRST = "Who was the first keeper?"


@pytest.fixture(scope="module")
def asked(notes, bundled_model):
    """One answer as JSON, from a process that may not open a connection."""
    done = process(["ask", FIRST, "--json", "--seed", "3"], cwd=notes, before=NO_SOCKETS)
    assert done.code == 0, done.err
    return done


def test_the_answer_is_cited_and_every_span_resolves(asked):
    answer = asked.json("answer@1")
    assert "Mira Oskan" in answer["answer"]
    cited = [one for sentence in answer["sentences"] for one in sentence["citations"]]
    assert cited[0]["relative"] == "keepers.txt"
    for one in cited:
        text = Path(one["path"]).read_text()
        assert text[one["start"] : one["end"]] == one["text"]
        assert text[: one["start"]].count("\n") + 1 == one["line"]
    for sentence in answer["sentences"]:
        assert answer["answer"][sentence["start"] : sentence["end"]] == sentence["text"]


def test_the_answer_can_be_replayed(asked):
    answer = asked.json("answer@1")
    assert answer["seed"] == 3
    assert answer["parameters"]["sampling.seed"] == 3
    assert len(answer["model"]["sha256"]) == 64
    assert answer["provenance"]["index"]["generation"] >= 1
    assert answer["provenance"]["documents"]
    assert answer["provenance"]["prompt"]


def test_tokens_make_up_the_answer_and_carry_risk(asked):
    answer = asked.json("answer@1")
    assert answer["answer"] in "".join(token["text"] for token in answer["tokens"])
    assert all(token["risk"] is not None for token in answer["tokens"])
    assert {len(token["attention"]) for token in answer["tokens"]} <= {0, len(answer["selected"])}


def test_same_question_same_bytes(asked, notes):
    again = invoke("ask", FIRST, "--json", "--seed", "3").json("answer@1")
    before = asked.json("answer@1")
    assert {**again, "timings": {}} == {**before, "timings": {}}


def test_in_a_pipe_and_explained():
    result = invoke("ask", FIRST, "--explain", "--set", "sampling.max_tokens=40")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].endswith("[1]")
    assert lines[2].startswith("[1] keepers.txt:1  “Mira Oskan was the first keeper")
    assert "How this was answered" in result.out
    assert "\x1b" not in result.out


def test_on_a_terminal_tokens_stream_and_the_answer_stays():
    result = invoke("ask", FIRST, terminal=True)
    assert result.code == 0
    assert "[1]" in result.out
    assert "\x1b[?25l" in result.out  # the cursor is hidden while the answer is drawn
    assert result.out.rindex("\x1b[?25h") < result.out.rindex("keepers.txt:1")


def test_as_a_stream_of_events():
    events = [json.loads(line) for line in invoke("ask", FIRST, "--jsonl").out.splitlines()]
    names = [event["event"] for event in events]
    assert names[0] == "retrieved"
    assert names[-1] == "finished"
    assert names.count("token") == len(events[-1]["answer"]["tokens"])


@pytest.mark.parametrize(
    "question",
    ["What is the capital of Italy?", "Who was the second keeper of the Sandholm light?"],
)
def test_what_is_not_there_is_not_answered(question):
    result = invoke("ask", question)
    assert result.code == 1
    assert result.out.startswith("Not in the documents")
    assert "Searched 5 files, 5 passages." in result.out
    assert "Could not read broken.pdf: " in result.out
    assert "[1]" not in result.out


def test_abstention_as_json():
    answer = invoke("ask", "What is the capital of Italy?", "--json").json("answer@1")
    assert answer["abstained"]
    assert answer["sentences"] == []
    assert answer["searched"]["files"] == 5
    assert Path(answer["searched"]["unread"][0]["path"]).name == "broken.pdf"


def test_a_batch_has_one_document_and_the_highest_code():
    questions = f"\ufeff{FIRST}\n\n   \nWhat is the capital of Italy?\n"
    result = invoke("ask", "-", "--json", stdin=questions)
    assert result.code == 1
    answers = result.json("answers@1")["answers"]
    assert [one["abstained"] for one in answers] == [False, True]
    assert answers[0]["question"].endswith(FIRST)


def test_a_question_too_long_for_a_batch_takes_its_place_only():
    result = invoke("ask", "-", "--json", "--verbatim", stdin=f"{'z' * 100_001}\n{FIRST}\n")
    assert result.code == 2
    answers = result.json("answers@1")["answers"]
    assert [one["schema"] for one in answers] == ["ragcli/error@1", "ragcli/answer@1"]
    assert "100001 characters is too long" in answers[0]["message"]
    assert "Mira Oskan" in answers[1]["answer"]


def test_a_quotation_is_not_called_cut():
    limit = "What is the boiler's pressure limit?"
    result = invoke("ask", limit, "--max-tokens", "1", "--threads", "1")
    assert result.code == 0
    assert "3 bar" in result.out
    assert "a source sentence is quoted" in result.err
    assert "was cut" not in result.err


@pytest.mark.parametrize("more", [(), ("--method", "drag"), ("--set", "drag.analyzer=adapter")])
def test_an_adapter_that_nothing_reads_is_refused(more):
    result = invoke("ask", FIRST, "--adapter", "x.gguf", *more)
    assert result.code == 2
    assert "nothing would read --adapter here" in result.err


def test_a_batch_as_text():
    result = invoke("ask", "-", stdin="What is the capital of Italy?\n")
    assert result.out.startswith("> What is the capital of Italy?\nNot in the documents")
    assert invoke("ask", "-", stdin="").code == 0
    assert invoke("ask", "-", "--json", stdin="\n").json("answers@1")["answers"] == []


def test_strict_wants_support():
    forced = ["ask", "What is the capital of Italy?", "--force", "--max-tokens", "12"]
    assert invoke(*forced).code == 0
    strict = invoke(*forced, "--strict", "--json")
    assert strict.code == 6
    assert strict.json("answer@1")["abstained"] is False
    assert "not supported" in strict.err


def test_25_answer_not_in_the_documents(cases, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke("index", str(cases / "25")).code == 0
    for question in (
        "What is the capital of Italy?",
        "Who was the second keeper of the Sandholm light?",
        "When did Mira Oskan die?",
    ):
        answer = invoke("ask", question, "--json").json("answer@1")
        assert (answer["abstained"], answer["sentences"]) == (True, []), question
    found = invoke("ask", "Who was the first keeper?")
    assert found.code == 0
    assert "Mira Oskan" in found.out
    assert "[1]" in found.out


def test_17_any_string_is_a_question(cases, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke("index", str(cases / "17")).code == 0
    asked = [query for query in QUERIES[::3] if query.split() and len(query) < 100]
    result = invoke("ask", "-", "--json", "--max-tokens", "3", stdin="\n".join(asked))
    answers = result.json("answers@1")["answers"]
    assert [one["question"] for one in answers] == asked
    assert {one["schema"] for one in answers} == {"ragcli/answer@1"}
    assert result.code in (0, 1)
    assert invoke("ask", "--max-tokens", "3", "--", "--help").code in (0, 1)


def test_27_one_document_inside_a_terminal(notes):
    if shutil.which("script") is None:
        pytest.skip("no script(1) here")
    question = "What is the capital of Italy?"
    inner = shlex.join([sys.executable, "-m", "ragcli", "ask", "--json", question]) + " 2>/dev/null"
    done = subprocess.run(
        ["script", "-qec", inner, "/dev/null"], cwd=notes, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    assert json.loads(done.stdout)["abstained"]
    assert done.returncode == 1


def test_ctrl_c_while_it_writes(notes):
    argv = [sys.executable, "-m", "ragcli", "ask", "-", "--jsonl", "-q"]
    run = subprocess.Popen(
        argv, cwd=notes, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert run.stdout is not None
    assert run.stdin is not None
    run.stdin.write(f"{FIRST}\n" * 30)  # enough to write for as long as a busy machine needs
    run.stdin.close()
    run.stdin = None
    lines = []
    for line in run.stdout:
        lines.append(json.loads(line))
        if lines[-1]["event"] == "token":
            run.send_signal(signal.SIGINT)
            break
    rest, err = run.communicate(timeout=120)
    assert run.returncode == 130
    assert json.loads(rest.splitlines()[-1])["code"] == "interrupted"
    assert err == "ragcli: interrupted\n"
