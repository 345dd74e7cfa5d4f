"""Questions from JSON lines, in the row shapes of the common question answering sets.

One reader for all of them; a row may hold

    {"question", "answers": ["Paris", …]}                            the shortest form
    … "passages": [{"title", "sentences" | "text", "gold"}]          HotpotQA, MuSiQue, PopQA
    … "gold": [passage ids], "answer_start"                          NQ, SQuAD, with a corpus
    {"question", "qa_pairs": [{"short_answers", "gold_passage"}], "answer"}   ASQA
    … "answers": [["alias", …], …]                                   a list of answers (QAMPARI)
    … "claims": ["…"], "answer": "…"                                 ELI5

A corpus is JSON lines of {"_id", "title", "text"}. What is not known of a row is left out: a
sub-question of ASQA without a gold passage counts for the answer, not for the knowledge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragcli.errors import UsageError
from ragcli.evaluate.types import Dataset, GivenPassage, Question
from ragcli.paths import shown

_FORM = 'a line is such as {"question": "…", "answers": ["…"]}'
DISTRACTORS = ("nq", "asqa")  # corpora that stand beside passages without labels, where found


def load(path: Path, limit: int | None = None, corpora: Sequence[Path] = ()) -> Dataset:
    """The questions of a file, and the texts to answer them from.

    limit: that many, the first by `first`. corpora: files; none given: `../corpus/NAME.jsonl`
    beside the data, where it is there. Passages without labels of what is needed are searched
    together, with `DISTRACTORS` beside them. Raises UsageError, naming line and field.
    """
    rows = list(_questions(path))
    questions = tuple(one for one in rows if one is not None)
    if not questions:
        raise UsageError(f"{shown(path)} holds no questions with answers", hint=_FORM)
    _check_ids(path, questions)
    labelled = any(any(one.gold for one in q.passages) for q in questions)
    own = any(q.passages for q in questions) and labelled
    if own and not all(q.passages for q in questions):
        raise UsageError(f"{shown(path)}: some questions bring passages and some do not",
                         hint="put them into two files")  # fmt: skip
    loose = [] if own else list(_loose(questions))
    files = list(corpora) or ([] if own else _beside(path, questions, bool(loose)))
    corpus = (*loose, *(one for file in files for one in read_corpus(file)))
    _check_gold(path, questions, corpus)
    dataset = Dataset(path.stem, questions, corpus, own, len(rows) - len(questions))
    return dataset if limit is None else first(dataset, limit)


def first(dataset: Dataset, n: int) -> Dataset:
    """The first n questions in the order of a hash of their ids: the same ones everywhere."""
    ordered = sorted(dataset.questions, key=lambda q: hashlib.sha256(q.id.encode()).digest())
    return replace(dataset, questions=tuple(ordered[:n]))


def read_corpus(path: Path) -> Iterator[GivenPassage]:
    """Passages of a corpus file. Raises UsageError."""
    found = False
    for row in _rows(path):
        found = True
        id = str(row.get("_id") or row.get("id") or row.want("text", str))
        yield GivenPassage(id, row.get_text("title"), (row.want("text", str),))
    if not found:
        raise UsageError(
            f"{shown(path)} holds no texts",
            hint='a corpus is JSON lines of {"_id", "title", "text"}',
        )


@dataclass(frozen=True, slots=True)
class _Row:
    """One line; complains about fields by name."""

    path: Path
    number: int
    values: dict[str, Any]

    def get(self, name: str) -> Any:
        return self.values.get(name)

    def get_text(self, name: str) -> str:
        """A text, possibly empty; "" where it is missing or null."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            self.refuse(name, "must be a text")
        return value or ""

    def want(self, name: str, kind: type) -> Any:
        """A field that must be there. Raises UsageError."""
        value = self.values.get(name)
        if not isinstance(value, kind) or (isinstance(value, str) and not value.strip()):
            named = "a text" if kind is str else "a list"
            self.refuse(name, f"must be {named}" if name in self.values else "is missing")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A field that is a text or a list of texts; () where it is missing or null."""
        value = self.values.get(name)
        if value is None:
            return ()
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            self.refuse(name, "must be a list of texts")
        return tuple(one for one in listed if one.strip())

    def refuse(self, name: str, why: str) -> None:
        raise UsageError(f"{shown(self.path)}, line {self.number}: the field {name} {why}")

    def within(self, name: str, value: Any) -> _Row:
        """A nested object as a row of its own."""
        if not isinstance(value, dict):
            self.refuse(name, "must hold objects")
        return _Row(self.path, self.number, value)


def _rows(path: Path) -> Iterator[_Row]:
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield _Row(path, number, _object(path, number, line))
    except OSError as error:
        raise UsageError(
            f"cannot read {shown(path)}: {error.strerror or error}", hint=_FORM
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown(path)} is not UTF-8 text", hint=_FORM) from error


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    where = f"{shown(path)}, line {number}"
    try:
        value = json.loads(line)
        if "\\u" in line:
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        reason = f"{where}: not JSON ({_complaint(error)})"
        raise UsageError(reason, hint=_FORM) from error
    if not isinstance(value, dict):
        raise UsageError(f"{where}: not a JSON object", hint=_FORM)
    return value


def _complaint(error: ValueError | RecursionError) -> str:
    match error:
        case json.JSONDecodeError():
            return f"{error.msg}, column {error.colno}"
        case UnicodeEncodeError():
            return "half of a surrogate pair"
        case RecursionError():
            return "nested too deeply"
        case _:
            return "a number of too many digits"


def _questions(path: Path) -> Iterator[Question | None]:
    found = False
    for row in _rows(path):
        found = True
        yield _question(row)
    if not found:
        raise UsageError(f"{shown(path)} holds no questions", hint=_FORM)


def _question(row: _Row) -> Question | None:
    """None for one that is said to have no answer."""
    text = row.want("question", str)
    answers, parts = _answers(row)
    pairs = [row.within("qa_pairs", one) for one in row.get("qa_pairs") or ()]
    parts += tuple(pair.texts("short_answers") for pair in pairs)
    golds = [pair.get("gold_passage") for pair in pairs] + list(row.get("gold") or ())
    claims = row.texts("claims")
    if not (answers or parts or claims or row.get_text("answer")):
        if row.get("answers") == []:
            return None
        row.refuse("answers", "is missing")
    start = row.get("answer_start")
    if start is not None and (not isinstance(start, int) or isinstance(start, bool) or start < 0):
        row.refuse("answer_start", "must be an offset")
    passages = row.get("passages") or ()
    if not isinstance(passages, list | tuple):
        row.refuse("passages", "must be a list")
    id = row.get("id")
    return Question(
        id=str(id) if id is not None else hashlib.sha256(text.encode()).hexdigest()[:12],
        text=text,
        answers=answers,
        parts=tuple(part for part in parts if part),
        claims=claims,
        reference=row.get_text("answer") if parts or claims or not answers else "",
        passages=tuple(_passages(row, passages)),
        gold_passages=tuple(dict.fromkeys(str(one) for one in golds if one is not None)),
        answer_start=start,
    )


def _answers(row: _Row) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Aliases of one answer, or several answers with theirs."""
    value = row.get("answers")
    if isinstance(value, list) and any(isinstance(one, list) for one in value):
        inner = [_Row(row.path, row.number, {"answers": one}).texts("answers") for one in value]
        return (), tuple(inner)
    return row.texts("answers"), ()


def _passages(row: _Row, values: Sequence[Any]) -> Iterator[GivenPassage]:
    """The passages that hold text."""
    for at, value in enumerate(values):
        inner = row.within("passages", value)
        if inner.get("text") is None and not isinstance(inner.get("sentences"), list):
            inner.refuse("sentences", "is missing in a passage")
        passage = _passage(inner, at)
        if passage.sentences:
            yield passage


def _passage(row: _Row, at: int) -> GivenPassage:
    text = row.get("text")
    sentences = (row.want("text", str),) if text is not None else row.texts("sentences")
    gold = row.get("gold")
    if gold is None:
        return GivenPassage(str(row.get("id") or at), row.get_text("title"), sentences)
    listed = list(row.get("sentences") or sentences)
    if not isinstance(gold, list) or len(gold) != len(listed):
        row.refuse("gold", "must hold one mark a sentence")
    marks = tuple(
        bool(mark) for mark, one in zip(gold, listed, strict=True) if str(one).strip()
    )  # fmt: skip
    level = "passage" if row.get("gold_level") == "passage" else "sentence"
    return GivenPassage(
        str(row.get("id") or at),
        row.get_text("title"),
        sentences,
        marks,
        level,  # type: ignore[arg-type]
    )


def _beside(path: Path, questions: Sequence[Question], loose: bool) -> list[Path]:
    """Corpus files for this data: that of its name, and distractors for loose passages."""
    folder = path.absolute().parent.parent / "corpus"
    if loose:
        return [file for name in DISTRACTORS if (file := folder / f"{name}.jsonl").is_file()]
    words = path.stem.split("_")
    names = ["_".join(words[:n]) for n in range(len(words), 0, -1)]
    found = next((file for name in names if (file := folder / f"{name}.jsonl").is_file()), None)
    if found is not None:
        return [found]
    if any(q.gold_passages for q in questions):
        raise UsageError(
            f"the questions of {shown(path)} name passages of a corpus that is not there",
            hint=f"--corpus FILE, or put it at {shown(folder)}/{names[-1]}.jsonl",
        )
    return []


def _loose(questions: Sequence[Question]) -> Iterator[GivenPassage]:
    """All questions' passages, each text once, under ids of their own."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for question in questions:
        for one in question.passages:
            if (one.title, one.sentences) not in seen:
                seen.add((one.title, one.sentences))
                yield GivenPassage(f"{question.id}/{one.id}", one.title, one.sentences)


def _check_ids(path: Path, questions: Sequence[Question]) -> None:
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise UsageError(f"{shown(path)}: two questions have the id {question.id}")
        seen.add(question.id)


def _check_gold(path: Path, questions: Sequence[Question], corpus: Sequence[GivenPassage]) -> None:
    known = {passage.id for passage in corpus}
    for question in questions if corpus else ():
        for id in question.gold_passages:
            if id not in known:
                raise UsageError(
                    f"{shown(path)}: question {question.id} names the passage {id},"
                    " which the corpus does not hold"
                )
