"""A document, what was said from it, and what may become of its folder."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from tests.cli.harness import invoke

CODE = "The door code is 4711."
DOOR = f"Notes on the house.\n\n{CODE}\n\nThe roof is red.\n"
SAID = "The code is 4711."


def save(folder: Path, document: object) -> None:
    (folder / "answer.json").write_text(json.dumps(document))


def verify(*flags: str) -> tuple[int, Any]:
    result = invoke("verify", "answer.json", "--json", *flags)
    return result.code, result.json("verification@1")


def first(document: Any) -> Any:
    return document["answers"][0]["sentences"][0]["citations"][0]


def edit_nothing(folder: Path) -> None:
    """As it was."""


def edit_below(folder: Path) -> None:
    (folder / "door.md").write_text(DOOR + "The cellar is damp.\n")


def edit_above(folder: Path) -> None:
    (folder / "door.md").write_text("Read this first.\n\n" + DOOR)


def wrap(folder: Path) -> None:
    (folder / "door.md").write_text("New.\n\nThe door code\nis 4711.\n")


def edit_it(folder: Path) -> None:
    (folder / "door.md").write_text(DOOR.replace("4711", "9999"))


def empty(folder: Path) -> None:
    (folder / "door.md").write_text("")


def exchange_keeping_size_and_time(folder: Path) -> None:
    before = (folder / "door.md").stat()
    edit_it(folder)
    os.utime(folder / "door.md", ns=(before.st_atime_ns, before.st_mtime_ns))


def rename(folder: Path) -> None:
    (folder / "door.md").rename(folder / "gate.txt")


def rename_folder(folder: Path) -> None:
    (folder / "a").mkdir()
    (folder / "door.md").rename(folder / "a" / "door.md")
    (folder / "a").rename(folder / "b")


def move_and_edit(folder: Path) -> None:
    (folder / "new").mkdir()
    (folder / "new" / "door.md").write_text("Moved. " + DOOR)
    (folder / "door.md").unlink()


def another_in_its_place(folder: Path) -> None:
    (folder / "door.md").rename(folder / "old.md")
    (folder / "door.md").write_text("Nothing of that.\n")


def edit_beside_a_copy(folder: Path) -> None:
    shutil.copy2(folder / "door.md", folder / "copy.md")
    edit_it(folder)


def delete(folder: Path) -> None:
    (folder / "door.md").unlink()


def delete_all(folder: Path) -> None:
    shutil.rmtree(folder)


def a_folder_in_its_place(folder: Path) -> None:
    (folder / "door.md").unlink()
    (folder / "door.md").mkdir()
