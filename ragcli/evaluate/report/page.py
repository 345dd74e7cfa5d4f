"""The page as HTML: one file that asks for nothing.

Every text is escaped by the template engine; the only style and script are the two of this
package, and the page's own policy allows them alone, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from ragcli import __version__
from ragcli.evaluate.report.view import Page

_SURROGATE = re.compile("[\ud800-\udfff]")


def html(page: Page) -> str:
    """The whole file, ready to be written as UTF-8."""
    style, script = _resource("report.css"), _resource("report.js")
    text = _environment().get_template("report.html").render(
        page=page,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        version=__version__,
    )  # fmt: skip
    return _SURROGATE.sub("\ufffd", text)


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)};"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _resource(name: str) -> str:
    return (files("ragcli.evaluate.report") / "templates" / name).read_text("utf-8")


@cache
def _environment() -> Environment:
    return Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=FunctionLoader(_resource),
        trim_blocks=True,
        lstrip_blocks=True,
    )
