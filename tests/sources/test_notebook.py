import json
from pathlib import Path
from typing import Any

import pytest

from ragcli.errors import SourceError
from ragcli.sources.notebook import OUTPUT_LINES, load_notebook
from tests.sources.checks import check, place, shown


def notebook(*cells: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"nbformat": 4, "cells": list(cells), "metadata": {}} | more).encode()


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def markdown(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source.splitlines(keepends=True)}


def stream(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "text": [text]}


def test_cells_in_order_with_their_places() -> None:
    data = notebook(
        markdown("# Pumps\n\nThe pump *runs*.\n\n- one\n- two"),
        code("x = 1\n\nprint(x)", stream("1\n")),
        {"cell_type": "raw", "source": "Raw words."},
    )
    found = load_notebook(data, ".ipynb")
    check(found)
    assert (found.kind, found.title, found.notes) == ("notebook", "Pumps", ())
    assert shown(found) == [
        ("heading", 1, "Pumps"),
        ("paragraph", 0, "The pump *runs*."),
        ("list", 0, "- one\n- two"),
        ("code", 0, "x = 1"),
        ("code", 0, "print(x)"),
        ("code", 0, "1"),
        ("paragraph", 0, "Raw words."),
    ]
    assert [label for _, label in found.places] == ["cell 1", "cell 2", "cell 2, output", "cell 3"]
    assert place(found, "print(x)") == "cell 2"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (stream("\x1b[31mred\x1b[0m words"), "red words"),
        ({"output_type": "execute_result", "data": {"text/plain": ["<Figure>"], "image/png": "iVBORw0KGgo="}}, "<Figure>"),
        ({"output_type": "display_data", "data": {"text/html": "<b>no</b>", "text/markdown": "**yes**"}}, "**yes**"),
        ({"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}}, ""),
        ({"output_type": "error", "ename": "ValueError", "evalue": "bad valve", "traceback": ["\x1b[0;31mlong"]}, "ValueError: bad valve"),
        ({"output_type": "pyout", "text": ["7"]}, "7"),
        (stream("y" * 10_000), "y" * 400),
        (stream("\n".join(map(str, range(1000)))), "\n".join([*map(str, range(OUTPUT_LINES)), f"({1000 - OUTPUT_LINES} more lines)"])),
    ],
)  # fmt: skip
def test_what_a_cell_printed(output: dict[str, Any], text: str) -> None:
    found = load_notebook(notebook(code("f()", output)), ".ipynb")
    assert found.text == ("f()\n\n" + text if text else "f()")


def test_the_third_format_and_other_languages() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["A title"]},
        {"cell_type": "code", "input": ["x <- 1"]},
    ]
    data = json.dumps(
        {
            "nbformat": 3,
            "worksheets": [{"cells": cells}],
            "metadata": {"kernelspec": {"language": "R"}},
        }
    )
    found = load_notebook(data.encode(), ".ipynb")
    assert shown(found) == [("heading", 2, "A title"), ("code", 0, "x <- 1")]
    assert found.notes == ("notebook in r",)


def test_images_in_markdown_are_not_text() -> None:
    data = "iVBORw0KGgoAAAANSUhEUg" * 50
    found = load_notebook(notebook(markdown(f"See ![x](data:image/png;base64,{data}) here.")), "")
    assert found.text == "See ![x]() here."


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"cells": [', "broken notebook (JSON, line 1)"),
        (b"not json", "broken notebook (JSON, line 1)"),
        (b"[]", "not a notebook (no cells)"),
        (b"{}", "not a notebook (no cells)"),
        (b"[" * 100_000, "not a notebook (nested too deep)"),
        (b'{"cells": [], "x": ' + b"9" * 5000 + b"}", "broken notebook (JSON)"),
    ],
)
def test_what_is_no_notebook(data: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_notebook(data, ".ipynb")
    assert caught.value.message == reason


def test_a_real_one(shared_files: Path) -> None:
    data = (shared_files / "fixtures" / "notebook" / "simple.ipynb").read_bytes()
    found = load_notebook(data, ".ipynb")
    check(found)
    assert found.title == "Lorem ipsum"
    assert place(found, "from IPython.display") == "cell 4"
    assert "![the moon]" in found.text
    assert len(found.text) < 600  # 23 kB of pictures are none of it
