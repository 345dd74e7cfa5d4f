"""Where things live, and how paths are shown.

Paths on disk are bytes; Python holds the undecodable ones with surrogate escapes.
`shown` gives valid Unicode for people and JSON: an undecodable byte becomes ``\\xNN``.
"""

from __future__ import annotations

import os
from pathlib import Path

INDEX_DIR = ".ragcli"


def user_config_dir() -> Path:
    """The user's configuration folder (`RAGCLI_CONFIG_DIR` overrides)."""
    override = os.environ.get("RAGCLI_CONFIG_DIR")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_config_dir("ragcli", appauthor=False))


def user_cache_dir() -> Path:
    """Exports, saved prompt states and pulled models (`RAGCLI_CACHE_DIR` overrides)."""
    override = os.environ.get("RAGCLI_CACHE_DIR")
    if override:
        return Path(override)
    import platformdirs

    return Path(platformdirs.user_cache_dir("ragcli", appauthor=False))


def shown(path: str | os.PathLike[str]) -> str:
    """Valid Unicode for a path: bytes that are not UTF-8 are written ``\\xNN``."""
    return os.fsencode(os.fspath(path)).decode("utf-8", "backslashreplace")


def relative_to_cwd(path: Path) -> Path:
    """The path as a person in the working directory would type it: relative below it, else absolute."""
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
