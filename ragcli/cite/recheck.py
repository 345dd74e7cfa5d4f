"""Saved answers held against their sources as they are now.

A citation is *fresh* where its text stands at its place in its file, *moved* where the file or
the text lies elsewhere, *changed* where the file is there and the text is in it no longer, and
*missing* where there is no file to be read. A sentence of the answer is then judged again, as
`ask` judges, under what its sources say now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragcli.cite.attribute import judge
from ragcli.cite.checked import Checked, CheckedAnswer, CheckedClaim, Place, Standing
from ragcli.cite.current import Gone, Now, Search, Spot, read
from ragcli.cite.recorded import Origin, Quote, Recorded
from ragcli.cite.standing import find, same
from ragcli.cite.verify import Verifier
from ragcli.paths import shown
from ragcli.types import Document, Sentence, Source, Span, Verdict

# The verifier for a recorded answer; asked for only where there is something to judge.
OpenVerifier = Callable[[Recorded], Verifier]


@dataclass(slots=True)
class Checker:
    """How answers are checked.

    roots: folders that stand for the recorded ones; none: the recorded ones. index_dir: an index
    that may know where a file went. warn: told what could not be done.
    """

    verifier: OpenVerifier
    roots: Sequence[Path] = ()
    index_dir: Path | None = None
    workers: int = 1
    warn: Callable[[str], None] = print
    language: Callable[[str], str] = field(default=lambda question: "en")

    def check(self, answers: Sequence[Recorded]) -> list[CheckedAnswer]:
        """Every answer, in order. Raises what the verifier raises."""
        quotes = {
            cited.quote
            for answer in answers
            for claim in answer.claims
            for cited in claim.citations
        }
        checks = self._quotes(quotes)
        return [self._answer(answer, checks) for answer in answers]

    # Citations

    def _quotes(self, quotes: Iterable[Quote]) -> dict[Quote, Checked]:
        by_origin: dict[Origin, list[Quote]] = {}
        for quote in sorted(quotes, key=lambda q: (q.origin.label, q.origin.sha256, q.start)):
            by_origin.setdefault(quote.origin, []).append(quote)
        done: dict[Quote, Checked] = {}
        spots = [(origin, spot) for origin in by_origin for spot in self._homes(origin)]
        files = read([spot for _, spot in spots], self.workers)
        for (origin, _), found in zip(spots, files, strict=True):
            for quote in by_origin[origin]:
                done[quote] = _better(done.get(quote), _held(quote, found, home=True))
        open_ = {
            origin: rest
            for origin, all_ in by_origin.items()
            if (rest := [q for q in all_ if not _stands(done.get(q))]) and self._followed(origin)
        }
        self._elsewhere(open_, done)
        for origin, all_ in by_origin.items():
            for quote in all_:
                done.setdefault(quote, Checked(Standing.MISSING, origin.problem or "no such file"))
        return done

    def _followed(self, origin: Origin) -> bool:
        return bool(origin.relative) and (bool(self.roots) or not origin.problem)

    def _homes(self, origin: Origin) -> list[Spot]:
        """Where the file was, as far as its path may be followed."""
        if not self._followed(origin):
            return []
        roots = self.roots or ([origin.root] if origin.root is not None else [])
        return [Spot(root / origin.relative, root) for root in roots]

    def _elsewhere(
        self, rest: Mapping[Origin, Sequence[Quote]], done: dict[Quote, Checked]
    ) -> None:
        """Files that went: by their content, then by their name where the text is still in it.

        Where another file is in the place, or the file was edited, the citation stays changed: a
        copy of what it was, wherever it lies, is not what the answer names.
        """
        roots = self.roots or [origin.root for origin in rest if origin.root is not None]
        search = Search(roots, self.index_dir, self.warn, confined=bool(self.roots))
        for origin, quotes in rest.items():
            name = Path(origin.relative).name
            same_content = search.of_content(origin.sha256, name)
            homes = {spot.path for spot in self._homes(origin)}
            if same_content is not None and same_content.path not in homes:
                _name_copy(same_content.path, quotes, done)
            gone = [q for q in quotes if q not in done or done[q].standing is Standing.MISSING]
            spots = [same_content] if same_content is not None else search.of_name(name)
            wanted = [spot for spot in spots if gone and spot.path not in homes]
            for found in read(wanted, self.workers):
                for quote in gone:
                    check = _held(quote, found, home=False)
                    if not _stands(done.get(quote)) and _stands(check):
                        done[quote] = check

    # Sentences

    def _answer(self, answer: Recorded, checks: Mapping[Quote, Checked]) -> CheckedAnswer:
        if not answer.claims:
            return CheckedAnswer(answer)
        held = [tuple(checks[cited.quote] for cited in claim.citations) for claim in answer.claims]
        verifier = self.verifier(answer)
        verdicts = _judged(
            answer, held, verifier, answer.language or self.language(answer.question)
        )
        claims = tuple(map(CheckedClaim, answer.claims, verdicts, held))
        return CheckedAnswer(answer, claims, verifier.name)


def _judged(
    answer: Recorded, held: Sequence[Sequence[Checked]], verifier: Verifier, language: str
) -> list[Verdict]:
    """The claims under what their sources say now; a sentence that is a source's own is supported."""
    sources: list[Source] = []
    documents: dict[int, Document] = {}
    chosen: list[list[int]] = []
    for checks in held:
        picked = []
        for place in (check.now for check in checks if check.now is not None):
            picked.append(len(sources))
            documents[len(sources)] = _document(len(sources), place)
            sources.append(_source(len(sources), place))
        chosen.append(picked)
    said = [claim.text for claim in answer.claims]
    judged = judge(answer.question, said, chosen, sources, documents, verifier, language)
    return [
        Verdict.SUPPORTED
        if any(same(claim, sources[at].sentence.text) for at in picked)
        else verdict
        for claim, picked, (verdict, _) in zip(said, chosen, judged, strict=True)
    ]


def _document(id: int, place: Place) -> Document:
    relative = place.path.relative_to(place.root).as_posix()
    return Document(id, place.root, relative, place.kind, place.title, place.sha256, "")


def _source(id: int, place: Place) -> Source:
    sentence = Sentence(
        id, id, id, place.span.start, place.span.end, place.text, place.page, place.line,
        place.heading, place=place.place,
    )  # fmt: skip
    return Source(id, sentence)


def _name_copy(path: Path, quotes: Sequence[Quote], done: dict[Quote, Checked]) -> None:
    """Tells where the file still is what it was, of quotes that it does not hold any more."""
    for quote in quotes:
        check = done.get(quote)
        if check is not None and check.standing is Standing.CHANGED and check.edited:
            reason = f"{check.reason}; a copy of the file as it was lies at {shown(path)}"
            done[quote] = replace(check, reason=reason)


def _stands(check: Checked | None) -> bool:
    return check is not None and check.standing in (Standing.FRESH, Standing.MOVED)


_ORDER = [Standing.MISSING, Standing.CHANGED, Standing.MOVED, Standing.FRESH]


def _better(first: Checked | None, second: Checked) -> Checked:
    """With several roots, the one where the text stands best."""
    if first is None or _ORDER.index(second.standing) > _ORDER.index(first.standing):
        return second
    return first


def _held(quote: Quote, found: Now | Gone, *, home: bool) -> Checked:
    """What one file says of a quote. home: it is the file that the answer names."""
    if isinstance(found, Gone):
        if found.there:
            return Checked(Standing.CHANGED, f"no text can be read: {found.reason}", edited=True)
        return Checked(Standing.MISSING, found.reason)
    edited = found.sha256 != quote.origin.sha256
    span = find(quote.text, quote.start, found.text)
    if span is None:
        span = found.by_words.successor(quote.text, quote.start)
        now = None if span is None else _place(quote, found, span)
        reason = (
            "the text is not in the file any more"
            if edited
            else "the text is not in the file, which is as it was"
        )
        return Checked(Standing.CHANGED, reason, now, edited)
    now = _place(quote, found, span)
    if not home:
        return Checked(Standing.MOVED, "the file lies elsewhere", now, edited)
    if span.start != quote.start:
        return Checked(Standing.MOVED, "the text stands elsewhere in the file", now, edited)
    return Checked(Standing.FRESH, "the file was edited elsewhere" if edited else "", now, edited)


def _place(quote: Quote, found: Now, span: Span) -> Place:
    above = found.headings(span.start)
    kept = [part for part in quote.heading.split(" > ") if part in above]
    return Place(
        path=found.spot.path,
        root=found.spot.root,
        title=found.extracted.title,
        kind=found.extracted.kind,
        sha256=found.sha256,
        span=span,
        text=span.of(found.text),
        page=found.page(span.start),
        line=found.line(span.start),
        place=found.place(span.start),
        heading=" > ".join(kept),
    )
