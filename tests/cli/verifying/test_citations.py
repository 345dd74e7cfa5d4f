"""`ragcli verify`: what becomes of a citation when its document changes or goes elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cite.saved import answer, citation, sentence
from tests.cli.harness import Result, invoke
from tests.cli.verifying.house import (
    CODE,
    DOOR,
    SAID,
    a_folder_in_its_place,
    another_in_its_place,
    delete,
    delete_all,
    edit_above,
    edit_below,
    edit_beside_a_copy,
    edit_it,
    edit_nothing,
    empty,
    exchange_keeping_size_and_time,
    first,
    move_and_edit,
    rename,
    rename_folder,
    save,
    verify,
    wrap,
)
from tests.index.conftest import Bench, InlineExtractor


@pytest.mark.parametrize(
    ("change", "status", "edited", "line"),
    [
        (edit_nothing, "fresh", False, 3),
        (edit_below, "fresh", True, 3),
        (edit_above, "moved", True, 5),
        (wrap, "moved", True, 3),
        (edit_it, "changed", True, 3),
        (exchange_keeping_size_and_time, "changed", True, 3),
        (empty, "changed", True, None),
        (rename, "moved", False, 3),
        (rename_folder, "moved", False, 3),
        (move_and_edit, "moved", True, 3),
        (another_in_its_place, "changed", True, None),
        (edit_beside_a_copy, "changed", True, 3),
        (delete, "missing", False, None),
        (delete_all, "missing", False, None),
        (a_folder_in_its_place, "missing", False, None),
    ],
)
def test_a_citation(
    house: Path, change: Callable[[Path], None], status: str, edited: bool, line: int | None
) -> None:
    change(house)
    code, document = verify()
    cited = first(document)
    assert (cited["status"], cited["edited"]) == (status, edited)
    assert cited["now"] is None if line is None else cited["now"]["line"] == line
    good = status in ("fresh", "moved")
    assert (code, document["holds"]) == ((0, True) if good else (6, False))
    verdict = document["answers"][0]["sentences"][0]["verdict"]
    assert (verdict == "supported") == good
    assert document["counts"][status] == 1
    assert invoke("verify", "answer.json", "-q") == Result(code, "", "")


def test_what_is_said_to_people(house: Path) -> None:
    held = invoke("verify", "answer.json")
    assert held.out == (
        f"{SAID} [1]  (supported)\n"
        f"[1] fresh  house/door.md:3  “{CODE}”\n"
        "Holds  1 citation (1 fresh); judged by lexical\n"
    )
    edit_it(house)
    lost = invoke("verify", "answer.json")
    assert lost.code == 6
    assert f"{SAID} [1]  (partly supported, was supported)\n" in lost.out
    assert "it says now, at house/door.md:3, “The door code is 9999.”\n" in lost.out
    assert lost.out.splitlines()[-1].startswith(
        "Does not hold: 1 citation changed; 1 sentence no longer supported"
    )
    assert "\x1b[" in invoke("verify", "answer.json", terminal=True).out


def test_an_edit_that_still_supports_the_sentence(house: Path) -> None:
    (house / "door.md").write_text("The code of the door is 4711.\n")
    code, document = verify()
    assert (code, document["answers"][0]["failures"]) == (6, ["1 citation changed"])
    assert document["answers"][0]["sentences"][0]["verdict"] == "supported"


# Elsewhere


@pytest.mark.parametrize("change", [another_in_its_place, edit_beside_a_copy])
def test_a_copy_is_named_and_is_not_the_file(house: Path, change: Callable[[Path], None]) -> None:
    change(house)
    name = "old.md" if change is another_in_its_place else "copy.md"
    assert first(verify()[1])["reason"].endswith(f"as it was lies at {house / name}")
    (house / "door.md").unlink()
    code, document = verify()
    assert (code, first(document)["status"]) == (0, "moved")


def test_another_machine(house: Path, tmp_path: Path) -> None:
    house.rename(tmp_path / "elsewhere")
    assert first(verify()[1])["status"] == "missing"
    code, document = verify("--root", "elsewhere")
    assert (code, first(document)["status"]) == (0, "fresh")
    assert first(document)["now"]["path"] == str(tmp_path / "elsewhere" / "door.md")
    above, document = verify("--root", ".")
    assert (above, first(document)["status"]) == (0, "moved")
    both, document = verify("--root", ".", "--root", "elsewhere")
    assert (both, first(document)["status"]) == (0, "fresh")


def test_a_name_that_is_not_utf8(house: Path, tmp_path: Path) -> None:
    file = house / os.fsdecode(b"d\xff\xe2\x98\xba.md")
    file.write_text(DOOR)
    exact = os.fsencode(file).hex()
    shown = {"path": f"{house}/d\\xff☺.md", "relative": "d\\xff☺.md", "path_bytes": exact}
    save(tmp_path, answer(sentence(SAID, citation(file, CODE, **shown))))
    assert first(verify()[1])["status"] == "fresh"
    house.rename(tmp_path / "elsewhere")
    code, document = verify("--root", "elsewhere")
    assert (code, first(document)["status"]) == (0, "fresh")
    assert bytes.fromhex(first(document)["now"]["path_bytes"]).endswith(b"/d\xff\xe2\x98\xba.md")


def test_root_alone_counts(house: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    code, document = verify("--root", "other")
    assert (code, first(document)["status"]) == (6, "missing")
    assert invoke("verify", "answer.json", "--root", "none").code == 2


def test_an_index_knows_where_it_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragcli.index.run.Extractor", InlineExtractor)
    bench = Bench(tmp_path)
    door = bench.write("sub/door.md", DOOR)
    save(tmp_path, answer(sentence(SAID, citation(door, CODE))))
    away = tmp_path / "away"
    away.mkdir()
    door.rename(away / "gate.md")
    monkeypatch.chdir(tmp_path)
    assert first(verify()[1])["status"] == "missing"  # not below the recorded root
    bench.update(away)
    code, document = verify()
    assert (code, first(document)["status"]) == (0, "moved")
    assert first(document)["now"]["path"] == str(away / "gate.md")
    (away / "gate.md").write_text(DOOR.replace("4711", "9999"))  # and the index is behind
    assert first(verify()[1])["status"] == "missing"
    (bench.index_dir / "catalog.sqlite").write_bytes(b"damaged" * 100)
    code, document = verify()
    assert (code, first(document)["status"]) == (6, "missing")
    assert "the index was not asked" in document["warnings"][0]
