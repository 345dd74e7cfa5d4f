import pytest

from ragcli.cli.target import Target, parse_target
from ragcli.errors import UsageError


@pytest.mark.parametrize(
    ("text", "existing", "target"),
    [
        ("a.md", {"a.md"}, Target("a.md")),
        ("a.md", set(), Target("a.md")),
        ("a.md:12", {"a.md"}, Target("a.md", number=12)),
        ("a.md:12", {"a.md:12"}, Target("a.md:12")),
        ("a.pdf:p12", set(), Target("a.pdf", page=12)),
        ("a.pdf:p.12", set(), Target("a.pdf", page=12)),
        ("a.pdf p.12", set(), Target("a.pdf", page=12)),
        ("a b p.2", {"a b p.2"}, Target("a b p.2")),
        ("a.md:5-9", set(), Target("a.md", span=(5, 9))),
        ("C:\\x.md:5-5", set(), Target("C:\\x.md", span=(5, 5))),
        ("a:b:3", set(), Target("a:b", number=3)),
        ("a:b", set(), Target("a:b")),
        (":3", set(), Target(":3")),
        ("new\nline:3", set(), Target("new\nline", number=3)),
    ],
)
def test_targets(text, existing, target):
    assert parse_target(text, existing.__contains__) == target


@pytest.mark.parametrize("text", ["a.md:0", "a.pdf:p0", "a.md:9-5"])
def test_targets_that_are_none(text):
    with pytest.raises(UsageError):
        parse_target(text, lambda path: False)
