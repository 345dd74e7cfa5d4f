import base64
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.text import sentences as module
from ragcli.text.noise import is_noise, noise_spans
from ragcli.text.sentences import LONGEST, PYSBD_LIMIT, split_sentences
from ragcli.types import Block


def split(text: str, language: str = "en", kind: str = "paragraph") -> list[str]:
    block = Block(0, len(text), kind)  # type: ignore[arg-type]
    return [span.of(text) for span in split_sentences(text, [block], language)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["He saw Dr. Smith et al. (2020) in Fig. 3.", "It cost 3.5 m.", "See Eq. 4."],
        ['"I came. I saw. I won," he said.', "Then he left."],
        ["J. K. Rowling wrote it.", "The U.S. Government said no."],
        ["George W. Bush won.", "He chose plan B.", "It worked."],
        ["hello.", "how are you?", "fine"],
        ["Visit example.org.", "Then go.", "Version 3.11.2 is out!"],
        ["Use approx. 5 and resp. 6.", "In Jan. 2020 it was."],
        ["This is it.[1]", "Next one.[2]", "What?!", "No..."],
        ["He asked (see Sec. 3, also 4.) that.", "OK."],
        ["It was in St. Paul in 1999.", "The next was in 2000 (a bad year).", "Then it ended."],
        ["1. First item.", "2. Second item."],
        ["The boiler costs $4.50.", "We paid it, i.e. we owe nothing."],
    ],
)
def test_english(sentences: list[str]) -> None:
    assert split(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("de", ["Am 3. Oktober kam z. B. Herr Dr. Meier.", "Er ging bzw. lief.", "Nr. 5 ist da."]),
        ("fr", ["M. Dupont est là.", "Il part à 10 h.", "C'est tout."]),
        ("es", ["El Sr. López llegó.", "¿Quién es?", "No sé."]),
        ("ru", ["Он пришёл в 10 ч. утра.", "Она ушла."]),
    ],
)
def test_other_languages(language: str, sentences: list[str]) -> None:
    assert split(" ".join(sentences), language) == sentences


def test_no_blanks_are_needed_in_chinese() -> None:
    assert split("这座桥是罗马人建造的。他说：“好。”然后走了！", "zh") == [
        "这座桥是罗马人建造的。",
        "他说：“好。”",
        "然后走了！",
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "The heating sys-\ntem has power-\nful pumps. It must be drain-\ned in Octo-\nber.\n",
            [
                "The heating sys-\ntem has power-\nful pumps.",
                "It must be drain-\ned in Octo-\nber.",
            ],
        ),
        (
            "The committee met in the great hall of\nParis and the members of it were\nagreed.",
            ["The committee met in the great hall of\nParis and the members of it were\nagreed."],
        ),
        (
            "Dear Sir,\nThank you for your letter of May.\nYours,\nBob\n",
            ["Dear Sir,", "Thank you for your letter of May.", "Yours,", "Bob"],
        ),
        (
            "- one thing\n- another\n  thing. And more.\n1. x",
            ["- one thing", "- another\n  thing.", "And more.", "1. x"],
        ),
        ("One\n\nTwo\n \n\nThree", ["One", "Two", "Three"]),
        ("12:01 valve open\n12:02 valve shut\n", ["12:01 valve open", "12:02 valve shut"]),
    ],
)
def test_lines(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


@pytest.mark.parametrize(
    ("kind", "text", "sentences"),
    [
        ("heading", "What is it? A valve.", ["What is it? A valve."]),
        ("table", "Name | Dr. X\nAge | 3\n", ["Name | Dr. X", "Age | 3"]),
        ("table", "+--+\n| a |\n+==+\n| b |\n---\n| c |", ["| a |", "| b |", "| c |"]),
        (
            "paragraph",
            "See here\n> | a | b |\n> |:-:|---|\n> | 1 | 2 |",
            ["See here", "> | a | b |", "> | 1 | 2 |"],
        ),
        ("paragraph", "A title\n-------\nText.", ["A title", "-------\nText."]),
        (
            "code",
            "def f(x):\n    return (\n        x\n    )\n",
            ["def f(x):", "return (", "x\n    )"],
        ),
    ],
)
def test_kinds(kind: str, text: str, sentences: list[str]) -> None:
    assert split(text, kind=kind) == sentences


def test_long_sentences_are_cut_at_a_comma_or_blank() -> None:
    pieces = split("some words, and more of them " * 100)
    assert all(LONGEST // 2 <= len(piece) <= LONGEST for piece in pieces[:-1])
    assert all(piece.endswith(",") for piece in pieces[:-1])
    assert [len(piece) for piece in split("字" * 2500, "zh")] == [1000, 1000, 500]


BASE64 = base64.b64encode(random.Random(1).randbytes(3000)).decode()
WRAPPED = "\n".join(BASE64[at : at + 76] for at in range(0, len(BASE64), 76))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (BASE64, []),
        (WRAPPED, []),
        (f"The export follows. {BASE64} It ends.", ["The export follows.", "It ends."]),
        (f"Attached:\n{WRAPPED}\n\nBye.", ["Attached:", "Bye."]),
        ("a=1;b(2);" * 200, []),
        ("1234567890" * 1000, []),
    ],
)
def test_noise_gets_no_sentence(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "com/example/project/module/FooBarBazFactoryImpl/SomeOtherThing",
        "AbstractSingletonProxyFactoryBeanFactoryAware",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamter",
        "https://example.org/a/long/path/with/many/parts?and=a&query=string#fragment",
        "字" * 2000,
        "ก" * 2000,
        "",
    ],
)
def test_unusual_text_is_not_noise(text: str) -> None:
    assert not is_noise(text)
    assert noise_spans(text) == []


_TEXT = st.text(alphabet=st.sampled_from(list("aB3 .!?\"'()[]\n-。字é\t,:¿∯☝\x00")), max_size=300)


@given(
    _TEXT | st.text(max_size=200), st.sampled_from(["en", "de", "zh", "th", "ar", ""]), st.data()
)
def test_spans_are_exact(text: str, language: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=4)) | {0, len(text)})
    kinds = ["paragraph", "list", "code", "table", "heading"]
    blocks = [
        Block(start, end, kinds[at % 5])  # type: ignore[arg-type]
        for at, (start, end) in enumerate(itertools.pairwise(cuts))
    ]
    spans = split_sentences(text, blocks, language)
    covered: set[int] = set()
    last = 0
    for span in spans:
        assert last <= span.start < span.end
        assert span.of(text) == span.of(text).strip()
        assert len(span) <= LONGEST
        assert any(block.start <= span.start and span.end <= block.end for block in blocks)
        covered |= set(range(span.start, span.end))
        last = span.end
    for block in blocks:  # all of it, but for the rules of tables
        at = block.start
        for line in text[block.start : block.end].split("\n"):
            if line.strip("-=+|:> \t"):
                visible = {at + i for i, char in enumerate(line) if not char.isspace()}
                assert visible <= covered
            at += len(line) + 1


HOSTILE = {
    "repeated": "The same sentence again and again. ",
    "abbreviations": "He saw Mr. X. ",
    "dots": ". . .",
    "open brackets": "( The end. ",
    "digits": "f.302205302116302163025003025139150030251391500302513915bd ",
    "lower case": "it ended. then it began. ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_linearly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = module._pysbd_starts

    def spy(chunk: str, language: str) -> set[int]:
        asked.append(len(chunk))
        return real(chunk, language)

    monkeypatch.setattr(module, "_pysbd_starts", spy)
    work = []
    for size in (10_000, 20_000):
        asked.clear()
        split_sentences(HOSTILE[name] * (size // len(HOSTILE[name])), [])
        assert all(length <= PYSBD_LIMIT for length in asked)
        work.append(sum(asked))
    assert work[1] <= 2 * work[0] + 2 * PYSBD_LIMIT
    assert work[1] <= 2 * 20_000


def test_a_long_log_has_a_sentence_a_line() -> None:
    log = "\n".join(f"{number} ok" for number in range(60_000))
    assert len(split_sentences(log, [])) == 60_000


def test_plain_prose_does_not_go_to_pysbd(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(chunk: str, language: str) -> set[int]:
        raise AssertionError(chunk)

    monkeypatch.setattr(module, "_pysbd_starts", refuse)
    assert len(split("The valve is open. It was shut in 1999. Why? We do not know")) == 4
