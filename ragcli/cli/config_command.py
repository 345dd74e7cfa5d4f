"""`ragcli config`: the settings in force, where each comes from, and changing them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ragcli.cli import config as configuration
from ragcli.cli import options, userfile
from ragcli.cli.keys import ALIASES, KEYS, OTHER_VARIABLES
from ragcli.paths import shown


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = type(app)(rich_markup_mode=None, help="Show and change settings.")
    group.callback(invoke_without_command=True)(show)
    group.command("path")(path)
    group.command("set")(set_value)
    app.add_typer(group, name="config")


def show(
    ctx: typer.Context,
    index: options.IndexDir = None,
    as_json: options.Json = False,
    color: options.ColorOption = None,
    verbose: options.Verbose = 0,
    quiet: options.Quiet = False,
) -> None:
    """Show every setting in force and where it comes from."""
    if ctx.invoked_subcommand is not None:
        return
    from ragcli.render.terminal import clean, columns

    env = options.environment(ctx)
    config = configuration.load(env, ctx.params)
    rows = effective(config)
    if as_json:
        env.json({"schema": "ragcli/config@1", "files": files(config), "settings": rows})
        return
    table = [[row["key"], _shown(row), clean(row["origin"])] for row in rows]
    columns(env.printer(), table, styles=("number",))
    for name in unknown_variables(env.environ):
        env.note(f"{name} is not a setting of ragcli")


def effective(config: configuration.Config) -> list[dict[str, Any]]:
    """A row a setting: key, value, origin, help; method parameters only where set."""
    rows = []
    for key, known in KEYS.items():
        found = config.settings.get(key)
        value, origin = (found.value, found.origin) if found else (known.default, "default")
        if key in ALIASES:
            continue
        plain = value if value is None or isinstance(value, int) else shown(value)
        rows.append({"key": key, "value": plain, "origin": origin, "help": known.help})
    for key, one in config.methods.items():
        rows.append({"key": key, "value": one.value, "origin": one.origin, "help": ""})
    return rows


def files(config: configuration.Config) -> list[dict[str, Any]]:
    """The configuration files, whether they are there or not, weakest first."""
    project = configuration.project_file(config)
    found = [configuration.user_file()] + ([project] if project else [])
    return [{"path": shown(one), "exists": one.is_file()} for one in found]


def unknown_variables(environ: Any) -> list[str]:
    """RAGCLI_ variables that nothing reads: misspelled ones."""
    known = {f"RAGCLI_{key.upper()}" for key in KEYS} | OTHER_VARIABLES
    return sorted(name for name in environ if name.startswith("RAGCLI_") and name not in known)


def path(ctx: typer.Context) -> int:
    """Print the path of the user's configuration file."""
    options.environment(ctx).line(shown(configuration.user_file()))
    return 0


def set_value(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Such as model, k or fke.alpha.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")],
    quiet: options.Quiet = False,
) -> int:
    """Set KEY to VALUE in the user's configuration file."""
    file = userfile.write(key, value)
    options.environment(ctx).note(f"{key} set in {shown(file)}")
    return 0


def _shown(row: dict[str, Any]) -> str:
    from ragcli.render.terminal import clean

    value = row["value"]
    return f"({KEYS[row['key']].unset})" if value is None else clean(str(value))
