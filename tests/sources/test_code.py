import pytest

from ragcli.sources.code import load_code
from tests.sources.checks import check, named, sentences, shown

PYTHON = '''"""What the module does. It
goes on."""

import os

LIMIT = 3

# why it is so
@decorated
def outer(x):
    """Opens the valve, and
    shuts it."""
    def inner():
        return """
def not_one(): no"""
    return inner


class Pump:
    """A pump."""

    size = 1

    async def run(self):
        return 1

    # stops
    def stop(self):
        return 2


outer(1)
'''
C = """#include <x.h>

/* Opens the valve.
   int not_a_function() {
*/
static int
open_valve(int turns)
{
    if (turns) {
        return call(1);
    }
#ifdef X
out:
    return 0;
#endif
}

struct pump {
    int size;
};

int declared(int a);
void Pump::run(int a,
               int b) {
    go();
}
"""
CASES = [
    (".py", PYTHON, [
        (1, "outer", "# why it is so"), (1, "Pump", "class Pump:"), (2, "run", "async def run(self):"),
        (2, "stop", "# stops"), (1, "", "outer(1)"),
    ]),
    (".c", C, [
        (1, "open_valve", "/* Opens the valve."), (1, "pump", "struct pump {"),
        (1, "", "int declared(int a);"), (1, "Pump::run", "void Pump::run(int a,"),
    ]),
    (".js", "export class A extends B {\n  // m\n  async run(a) {\n    if (x) {\n    }\n  }\n}\nconst f = (a) => {\n  g();\n};\nexport default function h() {}\n",
     [(1, "A", "export class A extends B {"), (2, "run", "// m"), (1, "f", "const f = (a) => {"), (1, "h", "export default function h() {}")]),
    (".go", "package main\n\n// Run runs.\nfunc (c *Client) Run() error {\n\treturn nil\n}\n\ntype T struct {\n\tA int\n}\n",
     [(1, "main", "package main"), (1, "Run", "// Run runs."), (1, "T", "type T struct {")]),
    (".rs", "#[derive(Debug)]\npub struct P<T> {\n    a: T,\n}\n\nimpl<T> P<T> {\n    pub fn new() -> Self {\n    }\n}\n",
     [(1, "P", "#[derive(Debug)]"), (1, "P", "impl<T> P<T> {"), (2, "new", "pub fn new() -> Self {")]),
    (".java", "public class A {\n    @Override\n    public String name(int x) {\n        return \"\";\n    }\n}\n",
     [(1, "A", "public class A {"), (2, "name", "@Override")]),
    (".rb", "module M\n  class A\n    def run?\n      1\n    end\n  end\nend\n", [(1, "M", "module M"), (2, "A", "class A"), (3, "run?", "def run?")]),
    (".sh", "#!/bin/sh\nfind_it() {\n  ls\n}\nfunction other {\n  ls\n}\nls\n", [(1, "find_it", "#!/bin/sh"), (1, "other", "function other {"), (1, "", "ls")]),
    (".sql", "CREATE TABLE IF NOT EXISTS pumps (\n  id INT\n);\n", [(1, "pumps", "CREATE TABLE IF NOT EXISTS pumps (")]),
    (".el", "(defun run (x)\n  (go))\n", [(1, "run", "(defun run (x)")]),
    (".toml", "a = 1\n[tool.x]\nb = 2\n[[y]]\nc = 3\n", [(1, "tool.x", "[tool.x]"), (1, "y", "[[y]]")]),
    (".yaml", "a: 1\nservices:\n  web:\n    image: x\n- item\nvolumes:\n  - y\n", [(1, "services", "services:"), (1, "volumes", "volumes:")]),
    (".css", "a { color: red }\n", []),
    (".txt", "", []),
]  # fmt: skip


@pytest.mark.parametrize(("ending", "text", "sections"), CASES, ids=[case[0] for case in CASES])
def test_definitions_open_sections(
    ending: str, text: str, sections: list[tuple[int, str, str]]
) -> None:
    found = load_code(text.encode(), ending)
    assert (found.kind, found.text) == ("code", text)
    check(found)
    assert named(found) == sections


def test_docstrings_are_prose_and_code_goes_line_by_line() -> None:
    found = load_code(PYTHON.encode(), ".py")
    assert ("paragraph", 0, "Opens the valve, and\n    shuts it.") in shown(found)
    said = sentences(found)
    assert said[0] == (1, "What the module does.")
    assert (11, "Opens the valve, and shuts it.") in said
    assert (13, "def inner():") in said
    assert (27, "# stops") in said


def test_a_script_is_told_by_its_first_line() -> None:
    script = (
        b"#!/usr/bin/env python3\ndef f():\n    pass\n\nclass A:\n    def g(self):\n        pass\n"
    )
    assert [name for _, name, _ in named(load_code(script, ""))] == ["f", "A", "g"]


def test_lines_that_nobody_wrote_are_left_out() -> None:
    minified = "var a=function(b){return b.c};" * 100_000
    found = load_code(f"// The licence.\n{minified}\nlast();\n".encode(), ".js")
    check(found)
    assert [text for _, text in sentences(found)] == ["// The licence.", "last();"]
    assert found.notes == ("1 lines above 1000 characters left out",)


def test_damaged_code_is_read_all_the_same() -> None:
    text = 'def f(:\n    """never closed\n    return 1\n'
    found = load_code(text.encode(), ".py")
    check(found)
    assert found.text == text
    assert "never closed return 1" in " ".join(one for _, one in sentences(found))
