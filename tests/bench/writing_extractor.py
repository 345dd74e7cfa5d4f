"""The naive extraction: one prompt a passage through llama_cpp's high-level API, text written out.

What it writes is looked up among the passage's sentences; what is not there is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragcli.text.words import keys_of
from ragcli.types import Hit

_SYSTEM = (
    "You extract useful sentences from a document. First find the knowledge fragments that help"
    " to answer the question, then copy the sentences that hold them. Write only these sentences,"
    " or None."
)
_EXAMPLE = (
    "Question: Which river runs through the town where Anna Lund was born?\n"
    "Document: Anna Lund (born 3 May 1921) was a Danish painter born in Ribe. She studied in"
    " Copenhagen from 1939 to 1944. Her landscapes are shown in several museums of the country."
    " In 1962 she was given a prize for her work.\n"
    "Output: Anna Lund (born 3 May 1921) was a Danish painter born in Ribe.\n\n"
)


class WritingExtractor:
    """A loaded model of its own, prompts and answers as the API gives them."""

    def __init__(self, model: Path, threads: int) -> None:
        from llama_cpp import Llama

        self._model = Llama(str(model), n_ctx=2048, n_threads=threads, verbose=False, seed=0)
        self.tokens = 0

    def extract(self, question: str, hits: Sequence[Hit]) -> list[int]:
        """Ids of the sentences that were written, by rank and reading order."""
        return [id for hit in hits for id in self._one(question, hit)]

    def _one(self, question: str, hit: Hit) -> list[int]:
        document = f"{hit.document.title}: {hit.passage.text}"
        user = f"{_EXAMPLE}Question: {question}\nDocument: {document}\nOutput:"
        answer = self._model.create_chat_completion(
            [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": user}],
            max_tokens=256,
            temperature=0.0,
        )
        self.tokens += answer["usage"]["completion_tokens"]
        written = keys_of(answer["choices"][0]["message"]["content"] or "")
        return [s.id for s in hit.passage.sentences if _within(keys_of(s.text), written)]


def _within(sentence: frozenset[str], written: frozenset[str]) -> bool:
    return bool(sentence) and len(sentence & written) >= 0.9 * len(sentence)
