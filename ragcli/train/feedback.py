"""The generator's feedback: log P(A | Q, knowledge), kept on disk (paper 002, 3.1 and eq. 6).

The prompts are those of `ragcli ask`, the one without documents where there is no knowledge, as
the paper uses one prompt for feedback and answers (appendix D). There the sentence stands before
the question, so candidates of a question share the instruction alone.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragcli.errors import UsageError
from ragcli.llm.base import EncodedPrompt, Generator
from ragcli.llm.prompts import answer, closed_book
from ragcli.paths import shown
from ragcli.selection.organiser import runs
from ragcli.text.normalise import readable
from ragcli.train.examples import Candidate
from ragcli.types import Sentence, Source

AT_ONCE = 48  # prompts between two writes to the disk
_KEY = 16  # hexadecimal digits: among a million prompts two share one with a chance of 3e-8

Tick = Callable[[int, int], None]


def silent(_done: int, _total: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How likely is the answer, with these sentences in this order before the question?"""

    question: str
    answer: str
    order: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What is still to be asked: prompts, and seconds as far as the pace is known."""

    prompts: int
    seconds: float | None


class Feedback:
    """Asks the generator and remembers what it said."""

    def __init__(
        self, generator: Generator, file: Path | None = None, style: str = "short"
    ) -> None:
        """file: JSON lines, made if it is not there. Raises UsageError if it cannot be read."""
        self._generator, self._file, self._style = generator, file, style
        self._known = dict(read_feedback(file)) if file else {}
        self._spent, self._asked = 0.0, 0

    def scores(self, asked: Sequence[Asked], tick: Tick = silent) -> list[float]:
        """log P of each answer, summed over its tokens. tick: told of prompts done and in all.

        Raises ModelError, OSError where the file cannot be written.
        """
        keys = [self._key(one) for one in asked]
        missing = {key: one for key, one in zip(keys, asked, strict=True) if key not in self._known}
        done = 0
        for part in _parts(list(missing), AT_ONCE):
            tick(done, len(missing))
            self._ask(part, [missing[key] for key in part])
            done += len(part)
        return [self._known[key] for key in keys]

    def cost(self, asked: Sequence[Asked]) -> Cost:
        """What asking all of it would still take, by the pace so far."""
        missing = len({key for one in asked if (key := self._key(one)) not in self._known})
        return Cost(missing, missing * self.pace if self.pace else None)

    @property
    def pace(self) -> float:
        """Seconds a prompt took so far; 0 while none was asked."""
        return self._spent / self._asked if self._asked else 0.0

    @property
    def wording(self) -> str:
        """Versions of the prompts."""
        return f"{answer.version(self._style)} {closed_book.version(self._style)}"

    def prompt(self, question: str, order: Sequence[Candidate]) -> EncodedPrompt:
        """What `ragcli ask` would show: neighbours under one heading stand under it once."""
        if not order:
            return self._generator.chat(closed_book.system(self._style), closed_book.user(question))
        headings, sources = layout(order)
        pieces = answer.user(question, headings, sources)
        return self._generator.chat(answer.system(self._style), pieces)

    def _ask(self, keys: Sequence[str], asked: Sequence[Asked]) -> None:
        began = time.perf_counter()
        prompts = [self.prompt(one.question, one.order) for one in asked]
        tokens = [self._generator.vocabulary.tokenize(readable(one.answer)) for one in asked]
        found = self._generator.loglikelihood(prompts, tokens)
        values = [round(float(value), 4) for value in found]
        self._spent += time.perf_counter() - began
        self._asked += len(asked)
        self._known |= zip(keys, values, strict=True)
        if self._file:
            lines = "".join(
                json.dumps({"key": key, "logp": value}) + "\n"
                for key, value in zip(keys, values, strict=True)
            )
            with self._file.open("a", encoding="utf-8") as stream:
                stream.write(lines)

    def _key(self, one: Asked) -> str:
        order = [[c.title, c.text] for c in one.order]
        model = self._generator.identity.sha256
        told = json.dumps([model, self.wording, one.question, one.answer, order])
        return hashlib.sha256(told.encode()).hexdigest()[:_KEY]


def layout(order: Sequence[Candidate]) -> tuple[list[str], list[Source]]:
    """Headings of the documents of a prompt, and its sentences by document."""
    headings: list[str] = []
    sources: list[Source] = []
    numbers = {title: number for number, title in enumerate(dict.fromkeys(c.title for c in order))}
    for first, last in runs([numbers[one.title] for one in order]):
        for at in range(first, last):
            text = order[at].text
            sentence = Sentence(at, 0, 0, 0, len(text), text, None, 1)
            sources.append(Source(len(headings), sentence))
        headings.append(order[first].title)
    return headings, sources


def read_feedback(file: Path) -> Iterator[tuple[str, float]]:
    """What the file holds. A last line that was cut off while it was written is left out, and cut.

    Raises UsageError for another kind of file.
    """
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True)
        return
    except OSError as error:
        raise UsageError(f"cannot read {shown(file)}: {error.strerror}") from error
    whole, _, torn = raw.rpartition(b"\n")
    if torn:
        with file.open("r+b") as stream:
            stream.truncate(len(raw) - len(torn))
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            row = json.loads(line)
            yield str(row["key"]), float(row["logp"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise UsageError(
                f"{shown(file)}, line {number}: not feedback",
                hint="name a new file, or one that `ragcli train organizer` wrote",
            ) from error


def _parts(keys: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
