"""Puts questions, and shows what comes of them: live, as text, as JSON, as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from ragcli.cli.ending import ending_of
from ragcli.cli.engine import Answering
from ragcli.cli.environment import Environment
from ragcli.errors import ExitCode, RagcliError, UsageError
from ragcli.events import Event, Finished, Retrieved
from ragcli.render.risk import Levels
from ragcli.types import Answer, Document, Verdict

_LONGEST = 100_000  # characters of a line of a batch; nobody asks so much, a wrong file does


@dataclass(frozen=True, slots=True)
class Manner:
    """How answers are shown."""

    levels: Levels
    as_json: bool = False
    as_lines: bool = False
    explain: bool = False
    strict: bool = False


class Display(Protocol):
    """Shows what goes on while an answer is made."""

    def take(self, event: Event) -> None: ...


def ask_one(env: Environment, put: Answering, question: str, manner: Manner) -> ExitCode:
    """One question, one answer; errors are the caller's."""
    answer = answered(env, put, question, manner)
    if manner.as_json:
        from ragcli.render.json import answer_document

        env.json(answer_document(answer, _searched(put, answer)))
    return _told(env, answer, manner)


def ask_all(env: Environment, put: Answering, questions: Iterable[str], manner: Manner) -> ExitCode:
    """Each question in order; one that fails does not stop the rest.

    The exit code is the highest: 0 all answered, 1 some abstained, else the worst error.
    """
    worst = ExitCode.OK
    documents: list[dict[str, Any]] = []
    for question in questions:
        try:
            if len(question) > _LONGEST:
                raise UsageError(
                    f"a question of {len(question)} characters is too long",
                    hint=f"{_LONGEST} characters are the most",
                )
            code, document = _one_of_many(env, put, question, manner)
        except RagcliError as error:
            code, document = _failed(env, question, error, manner)
        worst = max(worst, code)
        documents.append(document)
    if manner.as_json:
        from ragcli.render.json import answers_document

        env.json(answers_document(documents))
    return worst


def _one_of_many(
    env: Environment, put: Answering, question: str, manner: Manner
) -> tuple[ExitCode, dict[str, Any]]:
    if not (manner.as_json or manner.as_lines):
        from ragcli.render.terminal import clean

        env.printer().line((f"> {clean(question)}", "heading"), hang=2)
    answer = answered(env, put, question, manner)
    code = _told(env, answer, manner)
    if not manner.as_json:
        if not manner.as_lines:
            env.line()
        env.flush()
        return code, {}
    from ragcli.render.json import answer_document

    return code, answer_document(answer, _searched(put, answer))


def _failed(
    env: Environment, question: str, error: RagcliError, manner: Manner
) -> tuple[ExitCode, dict[str, Any]]:
    """The question's place in the batch is taken by the error."""
    ending = ending_of(error)
    for line in ending.lines():
        env.complain(line)
    document = {**ending.document(), "question": question}
    if manner.as_lines:
        env.json(document)
    return ExitCode(ending.exit_code), document


def answered(env: Environment, put: Answering, question: str, manner: Manner) -> Answer:
    """Follow the events to the answer, showing them on the way where that is wanted."""
    if manner.as_lines or manner.as_json:
        with _stage_line(env) as line:
            events = _shown(put, question, line)
            return _last(_streamed(env, put, events) if manner.as_lines else events)
    with _display(env, manner) as display:
        answer = _last(_shown(put, question, display))
    _print(env, put, answer, manner)
    return answer


def _display(env: Environment, manner: Manner) -> AbstractContextManager[Display | None]:
    """The answer as it is written, where stdout can show it; else the stage, where stderr can."""
    if env.terminal and env.styled and not env.dumb:
        from ragcli.render.live import LiveAnswer

        return LiveAnswer(env.printer(), manner.levels)
    return _stage_line(env)


def _stage_line(env: Environment) -> AbstractContextManager[Display | None]:
    """The stage on stderr, where that is a terminal and stdout goes elsewhere."""
    if env.terminal or not env.progress:
        return nullcontext()
    from ragcli.render.live import LiveStage

    return LiveStage(env.stderr, colorless=env.colorless, width=env.width)


def _shown(put: Answering, question: str, display: Display | None) -> Iterator[Event]:
    if display is None:
        return put.ask(question, None)
    return _watched(put.ask(question, display.take), display.take)


def _searched(put: Answering, answer: Answer) -> dict[str, Any] | None:
    """What was searched, where there is no answer."""
    from ragcli.render.answer import searched_document

    return searched_document(put.searched()) if answer.abstained else None


def _print(env: Environment, put: Answering, answer: Answer, manner: Manner) -> None:
    from ragcli.render.answer import print_abstention, print_answer

    printer = env.printer()
    if answer.abstained:
        print_abstention(printer, answer, put.searched())
    else:
        print_answer(printer, answer, manner.levels if env.terminal or env.styled else None)
    if manner.explain:
        from ragcli.render.explain import print_explanation

        print_explanation(printer, answer, manner.levels)


def _last(events: Iterator[Event]) -> Answer:
    answer = None
    for event in events:
        if isinstance(event, Finished):
            answer = event.answer
    if answer is None:
        raise RuntimeError("the method ended without an answer")
    return answer


def _watched(events: Iterator[Event], take: Callable[[Event], None]) -> Iterator[Event]:
    for event in events:
        take(event)
        yield event


def _streamed(env: Environment, put: Answering, events: Iterator[Event]) -> Iterator[Event]:
    from ragcli.render.json import event_document

    documents: dict[int, Document] = {}
    for event in events:
        if isinstance(event, Retrieved):
            documents |= {hit.document.id: hit.document for hit in event.hits}
        searched = _searched(put, event.answer) if isinstance(event, Finished) else None
        env.json(event_document(event, documents, searched))
        yield event


def _told(env: Environment, answer: Answer, manner: Manner) -> ExitCode:
    """Warnings on stderr, and the exit code."""
    for warning in answer.warnings:
        env.note(warning)
    if answer.stop == "length" and answer.steps:  # not where a quotation stands in its place
        env.note("the answer was cut at its longest; --max-tokens N allows more")
    if answer.abstained:
        return ExitCode.NOTHING
    unsupported = [one for one in answer.sentences if one.verdict is Verdict.UNSUPPORTED]
    if manner.strict and (unsupported or not answer.sentences):
        env.note(f"{len(unsupported)} of {len(answer.sentences)} sentences are not supported")
        return ExitCode.UNSUPPORTED
    return ExitCode.OK
