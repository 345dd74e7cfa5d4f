"""Searching, looking things up, and the spans of what comes back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcli.errors import UsageError
from ragcli.events import Indexed
from ragcli.index.reader import Reader, query_terms
from ragcli.index.where import Where
from ragcli.types import Passage, SearchMode

from .conftest import Bench

LIGHTS = "# Lights\n\n## Sandholm\n\nThe first keeper was Mira Oskan. She came in 1871.\n"
HEATING = "The heating must be drained in October.\n\nThe limit is 3 bar: the ratio is 3:1.\n"
CODE = "def drain(valve):\n    # open the drain valve\n    return valve.open()\n"


@pytest.fixture
def filled(bench: Bench) -> Bench:
    bench.write("lights.md", LIGHTS)
    bench.write("house/heating.txt", HEATING)
    bench.write("src/drain.py", CODE)
    bench.update()
    return bench


@pytest.mark.parametrize("mode", list(SearchMode))
def test_each_mode_finds_the_passage(filled: Bench, mode: SearchMode) -> None:
    with filled.open() as reader:
        hits = reader.search("When must the heating be drained?", k=2, mode=mode)
    assert hits[0].document.relative == "house/heating.txt"
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((h.score for h in hits), reverse=True)
    assert hits[0].best_sentence is not None
    assert hits[0].best_sentence.text == "The heating must be drained in October."
    assert len(hits[0].sentence_scores) == len(hits[0].passage.sentences)
    assert hits[0].best_sentence_score == max(hits[0].sentence_scores)
    assert (hits[0].lexical is None) == (mode is SearchMode.DENSE)
    assert (hits[0].dense is None) == (mode is SearchMode.LEXICAL)


def test_lexical_mode_loads_no_encoder(filled: Bench) -> None:
    filled.encoder.calls = 0
    assert filled.found("keeper", mode=SearchMode.LEXICAL) == ["lights.md"]
    assert filled.encoder.calls == 0


def test_the_encoder_is_loaded_once(filled: Bench) -> None:
    filled.encoder.calls = 0
    with filled.open() as reader:
        for _ in range(3):
            reader.search("keeper", k=1)
    assert filled.encoder.calls == 1


def test_sentences_are_scored_on_request_only(filled: Bench) -> None:
    with filled.open() as reader:
        filled.encoder.encoded.clear()
        (hit, *_) = reader.search("keeper", k=1, score_sentences=False)
    assert (hit.best_sentence, hit.sentence_scores) == (None, ())
    assert filled.encoder.encoded == ["keeper"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Where(globs=("house/",)), {"house/heating.txt"}),
        (Where(globs=("*.py",)), {"src/drain.py"}),
        (Where(kinds=("markdown",)), {"lights.md"}),
        (Where(kinds=("py", "txt")), {"src/drain.py", "house/heating.txt"}),
        (Where(globs=("src",), kinds=("markdown",)), set()),
    ],
)
@pytest.mark.parametrize("mode", list(SearchMode))
def test_filters(filled: Bench, mode: SearchMode, where: Where, expected: set[str]) -> None:
    found = filled.found("drain valve keeper heating", mode=mode, where=where)
    assert set(found) == expected
    assert len(found) == len(expected)


ODD = ["ratio 3:1?", "https://example.org/a?b=c:d", "it's", "(a", '"final', "C++", "--help", "AND",
       "NOT x", ">>>", "[a TO", "$5 & up", "*", "\\", "a" * 10_000, "keeper " * 3000, "\x00", "\udcff",
       "Pru\u0308fstu\u0308ck", "\u5317\u4eac", "\U0001f600", "title:keeper^5", "~", "{", "]"]  # fmt: skip


@pytest.mark.parametrize("query", ODD)
@pytest.mark.parametrize("mode", list(SearchMode))
def test_any_string_is_a_query(filled: Bench, mode: SearchMode, query: str) -> None:
    with filled.open() as reader:
        assert len(reader.search(query, k=3, mode=mode)) <= 3


@pytest.mark.parametrize("query", ["", "   ", "\n\t"])
def test_an_empty_query_is_a_usage_error(filled: Bench, query: str) -> None:
    with filled.open() as reader, pytest.raises(UsageError):
        reader.search(query, k=3)


@pytest.mark.parametrize("k", [0, -1])
def test_no_hits_wanted(filled: Bench, k: int) -> None:
    with filled.open() as reader:
        assert reader.search("keeper", k=k) == ()


def test_a_term_said_twice_counts_twice() -> None:
    assert query_terms("red red valve", ["en"]) == [["red", "red", "valv"]]
    assert query_terms("...", ["en"]) == []


def test_lines_and_headings(filled: Bench) -> None:
    with filled.open() as reader:
        (hit, *_) = reader.search("Who was the first keeper?", k=1)
        sentence = next(s for s in hit.passage.sentences if "1871" in s.text)
        assert (sentence.line, sentence.page) == (5, None)
        assert "Sandholm" in sentence.heading
        (hit, *_) = reader.search("limit bar", k=1, mode=SearchMode.LEXICAL)
        assert hit.best_sentence is not None
        assert hit.best_sentence.line == 3


def test_looking_up(filled: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with filled.open() as reader:
        document = reader.document_at(filled.docs / "lights.md")
        assert document is not None
        assert reader.document(document.id) == document
        assert reader.text(document.id) == LIGHTS
        assert reader.text(document.id, 2, 8) == "Lights"
        monkeypatch.chdir(filled.docs / "house")
        assert reader.document_at(Path("../lights.md")) == document
        assert reader.document_at(Path("nowhere.md")) is None
        with pytest.raises(KeyError):
            reader.document(10_000)
        assert reader.sentences(document.id)[-1].text == "She came in 1871."
        assert reader.identity["generation"] == 1
        assert reader.identity["encoder"]["name"] == "words"
        status = reader.status()
    assert status.files == {"indexed": 3}
    assert status.kinds == {"code": 1, "markdown": 1, "text": 1}
    assert status.size_bytes > 0


def test_long_texts_are_read_in_pieces(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcli.index.packing.CHUNK", 50)
    monkeypatch.setattr("ragcli.index.records.CHUNK", 50)
    text = " ".join(f"Sentence number {n} is here." for n in range(60))
    bench.write("a.txt", text)
    bench.update()
    with bench.open() as reader:
        (document,) = reader.documents()
        assert reader.text(document.id) == text
        for start, end in [(0, 50), (49, 51), (50, 100), (100, 100), (7, 333), (len(text), None)]:
            assert reader.text(document.id, start, end) == text[start:end]
        assert _resolves(reader, reader.passages(document.id))


def _resolves(reader: Reader, passages: tuple[Passage, ...]) -> bool:
    for passage in passages:
        text = reader.text(passage.document_id)
        assert text[passage.start : passage.end] == passage.text
        assert passage.sentences
        for sentence in passage.sentences:
            assert text[sentence.start : sentence.end] == sentence.text
            assert sentence.line == text.count("\n", 0, sentence.start) + 1
            assert sentence.passage_id == passage.id
    ids = [s.id for p in passages for s in p.sentences]
    assert len(set(ids)) == len(ids)
    return True


paragraphs = st.lists(
    st.text(st.sampled_from("ab .!?\n#\u00fc\u5317\U0001f600\x00\u200b\u00ad-"), max_size=60),
    max_size=6,
).map("\n\n".join)


@settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(st.sampled_from(["a.md", "b.txt", "c/d.md"]), paragraphs, max_size=3))
def test_every_span_resolves_and_every_file_counts(bench: Bench, texts: dict[str, str]) -> None:
    for file in [f for f in bench.docs.rglob("*") if f.is_file()]:
        file.unlink()
    for name, text in texts.items():
        bench.write(name, text)
    assert bench.update().found == len(texts)
    with bench.open() as reader:
        for document in reader.documents():
            assert _resolves(reader, reader.passages(document.id))
        assert sum(1 for _ in reader.files()) == len(texts)


def test_stale_documents(filled: Bench) -> None:
    with filled.open() as reader:
        documents = {d.relative: d for d in reader.documents()}
        everything = list(documents.values())
        assert reader.stale(everything) == ()
        os.utime(filled.docs / "lights.md")
        assert reader.stale(everything) == ()
        file = filled.docs / "house" / "heating.txt"
        before = file.stat()
        file.write_text(file.read_text().replace("October", "January"))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        (filled.docs / "src" / "drain.py").unlink()
        stale = {d.relative for d in reader.stale(everything)}
        assert stale == {"house/heating.txt", "src/drain.py"}


def test_a_reader_keeps_its_state_while_others_write(filled: Bench) -> None:
    with filled.open() as reader:
        before = reader.search("drain valve keeper", k=5)
        for n in range(3):
            filled.write("lights.md", f"Nothing of the old text, version {n}.")
            assert isinstance(filled.events()[-1], Indexed)
        assert reader.search("drain valve keeper", k=5) == before
        lights = reader.document_at(filled.docs / "lights.md")
        assert lights is not None
        assert reader.text(lights.id) == LIGHTS
    assert filled.generation() == 4


def test_equal_hits_do_not_depend_on_history(bench: Bench) -> None:
    for n in (5, 1, 3):
        bench.write(f"{n}.md", "The very same sentence.")
        bench.update()
    for mode in SearchMode:
        assert bench.found("same sentence", mode=mode) == ["1.md", "3.md", "5.md"]


def test_a_heading_is_no_best_sentence(bench: Bench) -> None:
    """It names what follows; what states something is shown, unless there is nothing else."""
    bench.write("wells.md", "## The Old Well\n\nIt was dug by hand and is dry.\n")
    bench.write("bare.md", "# Nothing but a heading\n")
    bench.update()
    with bench.open() as reader:
        for mode in SearchMode:
            best = reader.search("the old well", k=1, mode=mode)[0].best_sentence
            assert best is not None
            assert best.text == "It was dug by hand and is dry."
        bare = reader.search("nothing but a heading", k=1)[0].best_sentence
    assert bare is not None
    assert bare.is_heading
