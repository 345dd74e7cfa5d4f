"""Text of drawings in slides and sheets: paragraphs of shapes, charts, diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragcli.sources.ooxml import attribute, child, local

_MOST_POINTS = 2_000  # of a chart's series
_MOST_SERIES = 200


def paragraph_text(paragraph: Any) -> str:
    """Runs, fields and breaks of a paragraph of drawing text, on one line."""
    parts: list[str] = []
    for one in paragraph.iter("{*}t", "{*}br", "{*}tab"):
        parts.append((one.text or "") if local(one) == "t" else " ")
    return " ".join("".join(parts).split())


def paragraphs(body: Any) -> Iterator[Any]:
    """The paragraphs right below a text body."""
    return (one for one in body if local(one) == "p")


def texts(root: Any) -> Iterator[str]:
    """All paragraphs of drawing text anywhere below an element that say something."""
    for one in root.iter("{*}p"):
        if text := paragraph_text(one):
            yield text


def _points(element: Any) -> dict[int, str]:
    """Cached points of a reference by index."""
    found: dict[int, str] = {}
    for point in element.iter("{*}pt") if element is not None else ():
        index, value = attribute(point, "idx"), child(point, "v")
        if index.isdigit() and value is not None and len(found) < _MOST_POINTS:
            text = " ".join("".join(value.itertext()).split())
            found[int(index)] = text
    return found


def _series(one: Any) -> tuple[str, dict[int, str], dict[int, str]]:
    """(name, categories, values) of a series of a chart."""
    name = " ".join(_points(child(one, "tx")).values())
    values = child(one, "val")
    categories = child(one, "cat")
    if values is None:  # scatter and bubble charts
        values, categories = child(one, "yVal"), child(one, "xVal")
    return name, _points(categories), _points(values)


def chart_title(root: Any) -> str:
    """The title of a chart part, "" if it has none."""
    title = next(root.iter("{*}title"), None)
    if title is None or local(title.getparent()) != "chart":
        return ""
    return " ".join(texts(title)) or " ".join(_points(child(title, "tx")).values())


def chart_rows(root: Any) -> Iterator[str]:
    """A chart's saved data, a line a category: "Q1; Sales: 5; Costs: 3"."""
    series = [_series(one) for one, _ in zip(root.iter("{*}ser"), range(_MOST_SERIES))]  # noqa: B905 - the shorter ends it
    names: dict[int, str] = {}
    for _, categories, _ in series:
        names = {**categories, **names}
    for index in sorted({i for _, _, values in series for i in values}):
        cells = [names.get(index, "")]
        for name, _, values in series:
            if text := values.get(index, ""):
                cells.append(f"{name}: {text}" if name else text)
        if filled := [cell for cell in cells if cell]:
            yield "; ".join(filled)
