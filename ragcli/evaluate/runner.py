"""Runs arms over questions and keeps a row of each answer.

Questions are the outer loop: the arms of one question read much the same text, so what is kept
of it (the encoder's vectors, the model's read prompts) serves the next arm; and a run that is
stopped early has all arms on the same questions.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ragcli import __version__
from ragcli.cite.verify import open_verifier
from ragcli.encoders.organiser import open_organiser
from ragcli.errors import RagcliError
from ragcli.evaluate import arms as arms_
from ragcli.evaluate.corpus import Corpus
from ragcli.evaluate.cost import Estimate, estimate
from ragcli.evaluate.counting import CountingGenerator
from ragcli.evaluate.metrics.citation import judge
from ragcli.evaluate.metrics.knowledge import are_gold
from ragcli.evaluate.plan import Plan, prompt_versions, relevant
from ragcli.evaluate.rows import ROW_VERSION, Asked, Judging, is_whole, row_of
from ragcli.evaluate.store import Row, Store
from ragcli.evaluate.types import Arm, Question
from ragcli.events import Finished
from ragcli.llm.base import Generator
from ragcli.methods.ko_rag import organises
from ragcli.methods.run import Asker, AskOptions
from ragcli.methods.stages import Method
from ragcli.paths import shown
from ragcli.selection.organiser import Organiser
from ragcli.types import Answer


@dataclass(frozen=True, slots=True)
class Done:
    """A row of the run. known: it was there before. row None: the arm has nothing to say here.

    index: of the question, from 0.
    """

    index: int
    question: Question
    arm: Arm
    row: Row | None
    known: bool = False


class Bench:
    """A corpus, a generator and rows; runs plans."""

    def __init__(
        self,
        corpus: Corpus,
        generator: Generator,
        store: Store,
        *,
        describe: Callable[[Answer], Mapping[str, Any]] | None = None,
        organiser: Callable[[], Organiser] | None = None,
    ) -> None:
        """describe: an answer as the document that is kept beside its row. organiser: opens it."""
        self._organiser = organiser or partial(open_organiser, None)
        self._corpus, self._store, self._describe = corpus, store, describe
        self._generator = CountingGenerator(generator)
        self._asker: Asker | None = None
        self._keyed: tuple[Plan, dict[str, dict[str, str]]] | None = None

    def close(self) -> None:
        """Frees the sessions; the generator and the corpus stay open."""
        if self._asker is not None:
            self._asker.close()
        self._generator.close_shared()

    def keys(self, plan: Plan) -> dict[str, dict[str, str]]:
        """By arm and question id: names of rows, by all that an answer depends on.

        An arm has none for a question whose knowledge is not known.
        """
        if self._keyed is None or self._keyed[0] is not plan:
            questions = {q.id: _digest(asdict(q)) for q in plan.questions}
            arms = {arm.name: self._content(plan, arm) for arm in plan.arms}
            known = {q.id for q in plan.questions if self._corpus.gold(q)}
            table = {
                arm.name: {
                    id: _digest([arms[arm.name], question])[:24]
                    for id, question in questions.items()
                    if arm.knowledge != "gold" or id in known
                }
                for arm in plan.arms
            }
            self._keyed = (plan, table)
        return self._keyed[1]

    def _content(self, plan: Plan, arm: Arm) -> dict[str, object]:
        return {
            "corpus": self._corpus.key,
            "arm": {**asdict(arm), "name": "", "settings": ""},
            "settings": relevant(plan.settings(arm), arm),
            "model": self._generator.identity.sha256,
            "prompts": prompt_versions(),
            "verifier": (plan.verifier, plan.premise),
            "force": plan.force,
            "n_ctx": plan.n_ctx,
            "index": _index_key(self._corpus),
            "ragcli": __version__,
            "row": ROW_VERSION,
            **({"organizer": self._organiser().sha256} if self._organises(arm) else {}),
        }

    def _organises(self, arm: Arm) -> bool:
        return arm.knowledge == "retrieved" and organises(arms_.method_of(arm))

    def run(
        self,
        plan: Plan,
        *,
        again: bool = False,
        stop: Callable[[float], bool] = lambda seconds: False,
    ) -> Iterator[Done]:
        """Rows, question by question, each once it is on the disk.

        stop: asked before each question with the seconds that the last one took; True ends
        the run there. Raises what answering and scoring raise.
        """
        judging = self._judging(plan)
        every = self.keys(plan)
        self._store.tell(self._told(plan))
        spent = 0.0
        for index, question in enumerate(plan.questions):
            keys = {name: of[question.id] for name, of in every.items() if question.id in of}
            missing = (again and keys) or any(self._kept(key) is None for key in keys.values())
            if missing and stop(spent):
                return
            began = time.monotonic()
            for arm in sorted(plan.arms, key=arms_.reading):
                if arm.name not in keys:
                    yield Done(index, question, arm, None)
                    continue
                known = None if again else self._kept(keys[arm.name])
                if known is not None:
                    yield Done(index, question, arm, known, True)
                    continue
                yield Done(
                    index, question, arm, self._row(plan, arm, question, judging, keys[arm.name])
                )
            spent = time.monotonic() - began if missing else spent

    def _kept(self, key: str) -> Row | None:
        """The row, if it is there and whole: one that was tampered with is made anew."""
        row = self._store.get(key)
        return row if row is not None and is_whole(row) else None

    def missing(self, plan: Plan) -> dict[str, int]:
        """Rows still to be made, by arm."""
        return {
            name: sum(self._kept(key) is None for key in keys.values())
            for name, keys in self.keys(plan).items()
        }

    @property
    def folder(self) -> Path:
        """Where the rows are."""
        return self._store.folder

    def about(self, plan: Plan) -> dict[str, Any]:
        """What is run on what, as JSON."""
        model, corpus = self._generator.identity, self._corpus
        return {
            "dataset": {
                "name": corpus.dataset.name,
                "questions": len(plan.questions),
                "corpus": corpus.key[:16],
                "passages": corpus.reader.status().passages,
            },
            "model": {"name": model.name, "sha256": model.sha256},
            "encoder": corpus.reader.identity["encoder"],
            "verifier": plan.verifier,
            "premise": plan.premise,
            "forced": plan.force,
            "settings": list(plan.assignments),
            "folder": shown(self._store.folder),
        }

    def _told(self, plan: Plan) -> dict[str, Any]:
        """What a report of the run needs beside its rows."""
        known = ("id", "text", "answers", "parts", "claims", "reference")
        return {
            "about": self.about(plan),
            "questions": [{name: getattr(q, name) for name in known} for q in plan.questions],
            "keys": self.keys(plan),
        }

    def estimate(self, plan: Plan, missing: Mapping[str, int]) -> Estimate:
        """What the missing rows will take. Raises ModelError."""
        taken = {
            name: [
                row["scores"]["seconds"]
                for key in keys.values()
                if (row := self._kept(key)) is not None
            ]
            for name, keys in self.keys(plan).items()
        }
        return estimate(plan, self._corpus, self._generator, missing, taken)

    def _row(self, plan: Plan, arm: Arm, question: Question, judging: Judging, key: str) -> Row:
        method = self._method(arm, question)
        self._generator.reset()
        began = time.perf_counter()
        answer = self._answer(plan, arm, question, method)
        seconds = time.perf_counter() - began
        count = self._generator.reset()
        # What another arm had read for this one counts here too: arms are compared by it.
        asked = Asked(arm, question, answer, seconds + count.saved, count)
        row = row_of(key, asked, self._corpus, judging)
        row["model"] = self._generator.identity.sha256[:12]
        row["dataset"] = self._corpus.dataset.name
        self._store.add(row, self._describe(answer) if self._describe else None)
        return row

    def _answer(self, plan: Plan, arm: Arm, question: Question, method: Method) -> Answer:
        options = AskOptions(
            decode=method.decode,
            verifier=plan.verifier,
            where=self._corpus.where(question),
            force=plan.force,
            n_ctx=plan.n_ctx,
            verbatim=arm.verbatim,
            organiser=self._organiser,
        )
        settings = plan.settings(arm)
        if self._asker is None:
            self._asker = Asker(self._corpus.reader, self._generator, settings, options)
        asker = self._asker.variant(settings, options)
        try:
            *_, last = asker.ask(question.text, method)
        except RagcliError as error:
            error.message = f"{arm.name}, question {question.id}: {error.message}"
            error.args = (error.message,)
            raise
        assert isinstance(last, Finished)
        return last.answer

    def _method(self, arm: Arm, question: Question) -> Method:
        """The arm's method for this question."""
        corpus = self._corpus
        if arm.knowledge == "full" and corpus.dataset.own:
            documents = [document for _, document in corpus.given(question)]
            return arms_.given_method(arm, arms_.hits_of(corpus.reader, documents), None)
        if arm.knowledge != "gold":
            return arms_.method_of(arm)
        gold = corpus.gold(question)
        hits = arms_.hits_of(corpus.reader, corpus.gold_documents(question))
        shown = [(hit.document, s) for hit in hits for s in hit.passage.sentences]
        marks = are_gold([corpus.piece(document, s) for document, s in shown], gold)
        ids = frozenset(s.id for (_, s), mark in zip(shown, marks, strict=True) if mark)
        return arms_.given_method(arm, hits, ids)

    def _judging(self, plan: Plan) -> Judging:
        verifier = open_verifier(plan.verifier, self._generator)
        return Judging(judge(verifier), verifier.name, self._generator.vocabulary, plan.premise)


def _index_key(corpus: Corpus) -> object:
    """How the index was made; not when."""
    identity = corpus.reader.identity
    return [identity.get(name) for name in ("schema", "encoder", "analyzer", "chunking")]


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
