"""What stands under a name when it is no file."""

from __future__ import annotations

import stat

_SPECIAL = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
)


def special(mode: int) -> str:
    """Its name if a mode (`st_mode`) is not that of a file, else ""."""
    return next((name for test, name in _SPECIAL if test(mode)), "")
