"""How a process that writes a graph begins and ends."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path


def run(export: Callable[[Path, Path], object], arguments: list[str]) -> int:
    """Exports the first argument into the second; stdout stays empty.

    Exit 0, or 1 with the reason on the last line of stderr.
    """
    source, target = Path(arguments[0]), Path(arguments[1])
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    warnings.simplefilter("ignore")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            export(source, target)
    except Exception as error:  # noqa: BLE001 - the process ends here; its caller reads this line
        print(f"{type(error).__name__}: {' '.join(str(error).split())[:500]}", file=sys.stderr)
        return 1
    return 0
