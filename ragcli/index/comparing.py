"""The content of files of which a stat does not tell whether they changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ragcli.index.scan import HASH_AT_MOST, Plan, Work, file_hash
from ragcli.index.settled import trusted


def compare(plan: Plan) -> Iterator[int]:
    """Reads the doubtful files; yields how many of them are done, one by one.

    Those that wait to be read under a stamp that cannot be trusted get their hash.
    """
    doubtful = set(plan.doubtful)
    work, plan.work, plan.doubtful = plan.work, [], []
    done = 0
    for number, item in enumerate(work):
        if number in doubtful:
            _judge(plan, item)
            done += 1
            yield done
        else:
            plan.work.append(_hashed(item))


def _judge(plan: Plan, work: Work) -> None:
    known = work.known
    assert known is not None
    found = file_hash(work.entry.path)
    if found != known.sha256:
        plan.work.append(replace(work, sha256=found))
        plan.hidden += known.stamp == work.stamp
        return
    plan.keep(work)
    if known.stamp != work.stored:
        plan.touched.append((known, work.stored))


def _hashed(work: Work) -> Work:
    if trusted(work.stamp, work.seen_ns) or work.stamp.size > HASH_AT_MOST:
        return work
    return replace(work, sha256=file_hash(work.entry.path))
