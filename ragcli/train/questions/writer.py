"""Writes a question for an answer, held to the words of its source (`wording`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcli.closing import Closing
from ragcli.decoding.distribution import Floats, log_softmax
from ragcli.llm.base import EncodedPrompt, Feed, Generator, Prompt
from ragcli.llm.prompts import draft as prompt
from ragcli.llm.schedule import common_prefix
from ragcli.text.normalise import readable
from ragcli.train.questions.checks import LEAST_LIKELY
from ragcli.train.questions.sampling import Job
from ragcli.train.questions.wording import Wording, openings, vocabulary

LONGEST = 40  # tokens of a question
_HOPELESS = LEAST_LIKELY - 0.6  # mean log-probability at which a question is given up
_BEHIND = 0.3  # the same for one that is so far behind the best
_SETTLED = 5  # tokens before that


@dataclass(frozen=True, slots=True)
class Written:
    """likelihood: mean log-probability of the tokens after the opening, nothing ruled out."""

    question: str
    likelihood: float


class Writer(Closing):
    """One session: the worked examples are decoded once."""

    def __init__(self, generator: Generator) -> None:
        """Raises ModelError."""
        self._generator, self._vocabulary = generator, generator.vocabulary
        one, other = (self._form(*shown) for shown in (("A", "b", "c"), ("9", "x", "y")))
        self._fixed = one.tokens[: common_prefix(one.tokens, other.tokens)]
        self._session = generator.session(1, tap=False)
        self._mark = self._vocabulary.tokenize("?")
        try:
            self._session.start({0: self._fixed})
            self._session.advance([Feed(0, (), "none")])
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        self._session.close()

    def write(self, job: Job) -> Written:
        """The likeliest of the questions that begin as one for such an answer may.

        Greedy, so the same each time. Raises ModelError, Interrupted.
        """
        language = job.document.language or "en"
        title, sentence = readable(job.title), readable(job.sentence.text)
        answer = job.answer.text
        whole = self._form(title, sentence, answer).tokens
        shared = common_prefix(self._fixed, whole)
        self._session.truncate(0, shared)
        self._session.advance([Feed(0, whole[shared:], "last")])
        words = vocabulary(title, sentence, answer, language)
        wording = Wording(words, self._vocabulary.tokenize, self._mark) if words else None
        best: Written | None = None
        for opening in openings(job.answer.kind, answer, language):
            floor = max(best.likelihood - _BEHIND, _HOPELESS) if best else _HOPELESS
            one = self._from(len(whole), opening, wording, floor)
            best = one if best is None or one.likelihood > best.likelihood else best
        assert best is not None
        return best

    def _form(self, title: str, sentence: str, answer: str) -> EncodedPrompt:
        return self._generator.encode(Prompt(prompt.form(title, sentence, answer)))

    def _from(self, at: int, opening: str, wording: Wording | None, floor: float) -> Written:
        """Greedy from an opening on. at: length of the prompt. floor: of the mean, else given up."""
        self._session.truncate(0, at)
        tokens = self._vocabulary.tokenize(f" {opening}") if opening else []
        output = self._session.advance([Feed(0, tokens, "last")])[0]
        state, total, count = wording.start if wording else (), 0.0, 0
        while count < LONGEST:
            scores = log_softmax(output.logits[0])
            token = _best(scores, wording.allowed(state) if wording else None)
            total, count = total + float(scores[token]), count + 1
            piece = self._vocabulary.piece(token)
            if self._vocabulary.is_end(token) or b"\n" in piece:
                break
            tokens.append(token)
            if b"?" in piece or (count >= _SETTLED and total < floor * count):
                break
            state = wording.after(state, token) if wording else ()
            output = self._session.advance([Feed(0, [token], "last")])[0]
        text = b"".join(map(self._vocabulary.piece, tokens)).decode("utf-8", "replace")
        return Written(" ".join(text.split()), total / max(1, count))


def _best(scores: Floats, allowed: Sequence[int] | None) -> int:
    """The likeliest token, the first of equals."""
    if allowed is None:
        return int(scores.argmax())
    return int(allowed[int(scores[list(allowed)].argmax())])
