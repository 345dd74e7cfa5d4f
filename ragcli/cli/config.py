"""Settings from flags, environment, the index's folder and the user's folder, in that order.

A `.ragcli/` may arrive with somebody else's folder, so its `config.toml` may set how to
retrieve and answer, and nothing that names a file or a model. Unknown keys are errors.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ragcli.cli.environment import Color, Environment
from ragcli.cli.keys import ALIASES, KEYS
from ragcli.errors import UsageError
from ragcli.paths import shown, user_config_dir

FILE = "config.toml"
COMMAND_LINE = "command line"
_MAX_BYTES = 64 * 1024
_PARTING = re.compile(r"[\s,]+(?=[a-z][\w-]*\.[\w-]+\s*=)")


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it comes from."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force.

    settings: by key of `KEYS`, only those that are set; methods: method parameters by
    full key ("fke.alpha"), values as text or as TOML had them.
    """

    settings: Mapping[str, Setting]
    methods: Mapping[str, Setting]

    def __getitem__(self, key: str) -> Any:
        found = self.settings.get(key)
        return found.value if found else KEYS[key].default

    @property
    def assignments(self) -> list[str]:
        """The method parameters as `--set` takes them; --seed and --max-tokens are among them."""
        return [f"{key}={_spelled(one.value)}" for key, one in self.methods.items()]


def load(env: Environment, flags: Mapping[str, Any] | None = None) -> Config:
    """Everything in force, for the flags of one command (None and [] mean: not given).

    Raises UsageError for a file that cannot be read, an unknown key and a wrong value.
    """
    user = user_file()
    sources: list[tuple[str, Mapping[str, Any]]] = [(shown(user), read_file(user))]
    outer = [
        ("environment", _from_environ(env.environ)),
        (COMMAND_LINE, _from_flags(flags or {})),
    ]
    project = project_file(_merge([*sources, *outer]))
    if project is not None:
        sources.append((shown(project), _project_only(project, read_file(project))))
    config = _merge([*sources, *outer])
    if "color" in config.settings:
        env.color = Color(config["color"])
    return config


def user_file() -> Path:
    """Where `ragcli config set` writes."""
    return user_config_dir() / FILE


def project_file(config: Config) -> Path | None:
    """The configuration inside the index that these settings lead to, if there is one."""
    if config["index"] is not None:
        found = Path(config["index"])
    else:
        from ragcli.index.location import find_index

        above = find_index(Path.cwd())
        if above is None:
            return None
        found = above
    file = found / FILE
    return file if file.is_file() else None


def read_file(path: Path) -> dict[str, Any]:
    """The flat contents of a configuration file: keys of `KEYS` and full method keys."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(f"cannot read {shown(path)}: {error.strerror}") from error
    if len(raw) > _MAX_BYTES:
        raise UsageError(f"{shown(path)} is too large for a configuration file")
    try:
        return parse(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{shown(path)} is not valid TOML: {error}") from error
    except UsageError as error:
        raise UsageError(f"{error.message} ({shown(path)})", hint=error.hint) from error


def parse(text: str) -> dict[str, Any]:
    """Flat settings of a TOML text. Raises tomllib.TOMLDecodeError, UsageError."""
    return _flat(tomllib.loads(text))


def check(flat: Mapping[str, Any], origin: str) -> None:
    """Raises UsageError, naming `origin`, for what is unknown or wrong in `flat`."""
    _merge([(origin, flat)])


def _merge(sources: Sequence[tuple[str, Mapping[str, Any]]]) -> Config:
    """Later sources win."""
    settings: dict[str, Setting] = {}
    methods: dict[str, Setting] = {}
    for origin, flat in sources:
        for key, value in flat.items():
            if "." in key:
                methods[key] = Setting(value, origin)
            elif key in ALIASES:
                methods[ALIASES[key]] = Setting(read_value(key, value, origin), origin)
            elif key in KEYS:
                settings[key] = Setting(read_value(key, value, origin), origin)
            else:
                raise unknown_key(key, origin)
        _check_methods({k: one.value for k, one in methods.items() if one.origin == origin}, origin)
    return Config(settings, methods)


def unknown_key(key: str, origin: str) -> UsageError:
    """The error for a key that is none, with the nearest that is."""
    near = get_close_matches(key, KEYS, n=1, cutoff=0.5)
    where = f" ({origin})" if origin else ""
    return UsageError(
        f"unknown setting: {key}{where}",
        hint=f"did you mean {near[0]}?" if near else "`ragcli config` lists every setting",
    )


def read_value(key: str, value: object, origin: str) -> Any:
    """`value` as the type of `key`. Raises UsageError, naming `origin`."""
    try:
        return KEYS[key].read(value)
    except ValueError as error:
        raise UsageError(f"{key} must be {error} ({origin}: {value!r})") from None


def _check_methods(values: Mapping[str, Any], origin: str) -> None:
    """Method parameters belong to the methods; they also check them."""
    if not values:
        return
    from ragcli.cli.engine import parse

    try:
        parse([f"{key}={_spelled(value)}" for key, value in values.items()])
    except UsageError as error:
        raise UsageError(f"{error.message} ({origin})", hint=error.hint) from error


def method_value(key: str, text: str) -> Any:
    """A method parameter as its type. Raises UsageError."""
    from ragcli.cli.engine import parse as parse_settings

    return parse_settings([f"{key}={text}"]).as_dict()[key]


def _project_only(path: Path, flat: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse what a folder that came from elsewhere must not decide."""
    for key, value in flat.items():
        known = KEYS.get(key)
        if known is not None and not known.project:
            raise UsageError(
                f"{shown(path)} sets {key}, which a folder's own configuration may not",
                hint=f"put it into {shown(user_file())}, or give the flag",
            )
        if "." in key and isinstance(value, str) and ("/" in value or "\\" in value):
            raise UsageError(f"{shown(path)} sets {key} to a path, which it may not")
    return flat


def _flat(document: Mapping[str, Any]) -> dict[str, Any]:
    """`{"fke": {"alpha": 1}}` → `{"fke.alpha": 1}`; deeper tables and arrays are refused."""
    flat: dict[str, Any] = {}
    for key, value in document.items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        for name, one in inner:
            full = f"{key}.{name}" if name else key
            if not isinstance(one, (str, int, float, bool)):
                raise UsageError(f"{full} must be a text, a number, true or false")
            flat[full] = one
    return flat


def _from_environ(environ: Mapping[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {
        key: environ[f"RAGCLI_{key.upper()}"]
        for key in KEYS
        if environ.get(f"RAGCLI_{key.upper()}")
    }
    return given | assigned(environ.get("RAGCLI_SET", "").split())


def _from_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: flags[key] for key in KEYS if flags.get(key) is not None}
    return given | assigned(flags.get("settings") or ())


def assigned(texts: Iterable[str]) -> dict[str, str]:
    """`--set` texts by key. One text may hold several, parted by blanks or commas."""
    given: dict[str, str] = {}
    for text in texts:
        for one in _split(text):
            key, equals, value = one.partition("=")
            if not equals or "." not in key:
                raise UsageError(f"not a setting: {one}", hint="write it as --set fke.alpha=1")
            given[key.strip()] = value.strip()
    return given


def _split(text: str) -> list[str]:
    """At blanks and commas that a new `key=` follows."""
    return [piece for piece in _PARTING.split(text.strip()) if piece]


def _spelled(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
