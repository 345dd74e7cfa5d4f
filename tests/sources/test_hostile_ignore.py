"""Rules of .gitignore come with the documents: they may be FIFOs, bombs and endless loops."""

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from ragcli.sources.ignore import IgnoreRules, _without_backtracking
from ragcli.sources.walk import walk
from ragcli.types import FileEntry


def names(root: Path) -> list[str]:
    return [found.relative for found in walk([root]) if isinstance(found, FileEntry)]


@pytest.mark.parametrize("name", [".gitignore", ".ragcliignore"])
def test_rules_that_are_no_file_are_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.md").write_text("x")
    os.mkfifo(tmp_path / name)
    assert names(tmp_path) == ["a.md"]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
def test_endless_rules(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / ".gitignore").symlink_to("/dev/zero")
    assert names(tmp_path) == ["a.md"]


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("*" + "a*" * 30 + "b", "a" * 250),
        ("*[!b]" * 30, "a" * 249 + "b"),
        ("**/a/" * 20 + "b", "a/" * 1000 + "c"),
        ("*?" * 60 + "/x", "a" * 250),
    ],
)
def test_no_rule_takes_long(rule: str, path: str) -> None:
    started = time.process_time()
    IgnoreRules.start([rule]).ignores(path, folder=False)
    assert time.process_time() - started < 1


def test_very_many_rules_are_cut(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / ".gitignore").write_text("b\n" * 400_000 + "a.md\n")
    started = time.process_time()
    assert names(tmp_path) == ["a.md"]
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("rule", "hidden", "seen"),
    [
        ("*.*.bak", "a.b.bak", "a.bak"),
        ("x*y*z", "xaaybbz", "xz"),
        ("*a*/*b*c", "xax/bbc", "xax/cb"),
        ("[[a]*b*c", "[xbxc", "bc"),
        ("*[!a]*b", "cb", "ab"),
    ],
)
def test_rules_with_several_stars_work(rule: str, hidden: str, seen: str) -> None:
    rules = IgnoreRules.start([rule])
    assert rules.ignores(hidden, folder=False)
    assert not rules.ignores(seen, folder=False)


PIECES = st.sampled_from(["a", "b", "*", "*", "?", "/", "[ab]", "[!a]", "**", "\\*"])


@given(st.lists(PIECES, min_size=1, max_size=9).map("".join), st.text("aab*/c", max_size=12))
def test_rewritten_rules_match_the_same(rule: str, path: str) -> None:
    try:
        pattern = GitIgnoreSpecPattern(rule)
    except ValueError:
        return
    if pattern.regex is None:
        return
    plain = pattern.regex.pattern.replace("[^a]", "[^/a]")
    found = re.search(plain, path)
    other = re.search(_without_backtracking(plain), path)
    assert (found and found.groupdict()) == (other and other.groupdict())
