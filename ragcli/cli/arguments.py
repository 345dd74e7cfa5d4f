"""What people type, put into the order that the parser wants.

Common options may stand before the command (`ragcli --json search x`), and several
settings may follow one `--set`. Nothing after `--` is touched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Options that may stand before the command; True: a value follows.
COMMON: dict[str, bool] = {
    "--index": True,
    "--threads": True,
    "--ctx": True,
    "--max-tokens": True,
    "--seed": True,
    "--color": True,
    "--verbose": False,
    "-v": False,
    "-vv": False,
    "--quiet": False,
    "-q": False,
    "--json": False,
    "--jsonl": False,
}
_SETTING = re.compile(r"[a-z][a-z0-9_-]*\.[a-z][a-z0-9_-]*=\S*")


def arrange(argv: Sequence[str]) -> list[str]:
    """The arguments with common options moved behind the command, `--set` spelled out."""
    end = argv.index("--") if "--" in argv else len(argv)
    return _spell_settings(_move_common(argv[:end])) + list(argv[end:])


def wants_json(argv: Sequence[str]) -> bool:
    """Does the caller read JSON, whatever else is wrong with the line?"""
    end = argv.index("--") if "--" in argv else len(argv)
    return any(argument in {"--json", "--jsonl"} for argument in argv[:end])


def _move_common(argv: Sequence[str]) -> list[str]:
    moved: list[str] = []
    position = 0
    while position < len(argv):
        name, equals, _ = argv[position].partition("=")
        if name not in COMMON:
            break
        width = 2 if COMMON[name] and not equals else 1
        moved += argv[position : position + width]
        position += width
    rest = list(argv[position:])
    if not rest or rest[0].startswith("-"):
        return moved + rest
    return [rest[0], *moved, *rest[1:]]


def _spell_settings(argv: Sequence[str]) -> list[str]:
    """`--set a.b=1 c.d=2` → `--set a.b=1 --set c.d=2`."""
    spelled: list[str] = []
    within = False
    for argument in argv:
        follows = within and _SETTING.fullmatch(argument) is not None
        if follows and spelled[-1] != "--set":
            spelled.append("--set")
        spelled.append(argument)
        within = argument == "--set" or argument.startswith("--set=") or follows
    return spelled
