"""When a file's times may be trusted.

A stat tells a changed file by its times, and those move in steps: some milliseconds on most
file systems, one or two seconds on old and some network ones. A file that was stamped less
than a step before it was looked at can be written once more under the same stamp, and one
stamped in the future (a clock that is wrong, here or on a server) any number of times. Such a
stamp is stored with a mark on its change time, so that it equals no stamp: the next run
compares the content, until the times have settled. (git does the same for entries as young
as its index.)
"""

from __future__ import annotations

from dataclasses import replace

from ragcli.index.writer import Stamp

STEP_NS = 20_000_000  # the kernel's clock for file times ticks every 1 to 10 ms
COARSE_STEP_NS = 2_020_000_000  # FAT counts in 2 s; ext3, HFS+ and some servers in 1 s
_SECOND = 1_000_000_000


def settled(time_ns: int, now_ns: int) -> bool:
    """Whether a write from `now_ns` on would give a file another time than `time_ns`."""
    step = COARSE_STEP_NS if time_ns % _SECOND == 0 else STEP_NS
    return time_ns < now_ns - step


def trusted(stamp: Stamp, now_ns: int) -> bool:
    """Whether a file seen at `now_ns` with this stamp cannot change without another one."""
    return settled(stamp.mtime_ns, now_ns) and settled(stamp.ctime_ns, now_ns)


def marked(stamp: Stamp) -> Stamp:
    """The stamp with a change time that no file has."""
    return replace(stamp, ctime_ns=~stamp.ctime_ns)


def stored(stamp: Stamp, now_ns: int) -> Stamp:
    """The stamp as it is stored of a file that was seen at `now_ns`."""
    return stamp if trusted(stamp, now_ns) else marked(stamp)
