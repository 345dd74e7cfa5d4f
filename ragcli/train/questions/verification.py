"""Does a question, asked from its source, get its answer? The generator's own probabilities say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragcli.text.normalise import readable
from ragcli.train.examples import Candidate
from ragcli.train.feedback import Asked, Feedback
from ragcli.train.questions.sampling import Job
from ragcli.train.questions.spans import answer_spans

RIVALS = 5  # other spans of the sentence that the answer must beat
LEAST = -1.0  # mean log-probability of the answer's tokens, given its source
MARGIN = 0.2  # by which it must beat each rival: one of two years that fit is no answer


@dataclass(frozen=True, slots=True)
class Verification:
    """Mean log-probabilities a token. rivals: by the text of the span.

    with_source, without: of the answer, asked with its sentence and from memory.
    """

    with_source: float
    without: float
    rivals: dict[str, float]

    @property
    def preferred(self) -> str:
        """A rival that is about as likely as the answer, or likelier; "" if there is none."""
        if not self.rivals:
            return ""
        best = max(self.rivals, key=lambda text: self.rivals[text])
        return best if self.rivals[best] + MARGIN > self.with_source else ""

    @property
    def holds(self) -> bool:
        """The source makes the answer likely, likelier than memory, and the likeliest of its spans."""
        return self.with_source >= LEAST and self.with_source > self.without and not self.preferred


def verify(
    feedback: Feedback, tokenize: Callable[[str], Sequence[int]], job: Job, question: str
) -> Verification:
    """Raises ModelError, Interrupted."""
    answer = job.answer.text
    source = (Candidate(readable(job.sentence.text), readable(job.title)),)
    rivals = [
        one.text
        for one in answer_spans(job.sentence.text, job.document.language or "en", partial=True)
        if one.span.end <= job.answer.span.start or one.span.start >= job.answer.span.end
    ][:RIVALS]
    asked = [Asked(question, text, source) for text in (answer, *rivals)]
    with_source, *others, without = (
        value / max(1, len(tokenize(text)))
        for value, text in zip(
            feedback.scores([*asked, Asked(question, answer)]),
            (answer, *rivals, answer),
            strict=True,
        )
    )
    return Verification(with_source, without, dict(zip(rivals, others, strict=True)))
