import io

import pytest

from ragcli.cli import engine
from ragcli.cli.config import COMMAND_LINE, Config, Setting
from ragcli.cli.environment import Environment
from ragcli.errors import IndexMissing, UsageError


def make():
    return Environment(io.StringIO(), io.StringIO(), io.StringIO(), {})


def test_a_remark_is_made_once(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path))
    env = make()
    engine._say_once(env, "x", "hear")
    engine._say_once(env, "x", "hear")
    assert env.stderr.getvalue() == "hear\n"


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path / "file"))
    env = make()
    engine._say_once(env, "x", "hear")
    assert env.stderr.getvalue() == "hear\n"


@pytest.mark.parametrize(
    ("words", "query"),
    [(["a", "b"], "a b"), ([" a  b "], " a  b "), (["\udcff"], "\ufffd"), (["--x"], "--x")],
)
def test_query(words, query):
    assert engine.query(words) == query


@pytest.mark.parametrize("words", [[""], [" ", "\n"], ["\u3000"]])
def test_no_query(words):
    with pytest.raises(UsageError):
        engine.query(words)


def test_where_a_new_index_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert engine.index_dir_to_write(Config({}, {})) == tmp_path / ".ragcli"
    with pytest.raises(IndexMissing):
        engine.index_dir(Config({}, {}))


@pytest.mark.parametrize(("asked", "used"), [(None, None), (1, 1), (3, 3), (4, 3), (999, 3)])
def test_threads_are_no_more_than_cpus(asked, used, monkeypatch):
    monkeypatch.setattr(engine, "cpus", lambda: 3)
    given = {} if asked is None else {"threads": Setting(asked, COMMAND_LINE)}
    assert engine.threads(Config(given, {})) == used
    assert engine.workers(Config(given, {})) == (used or 3)


@pytest.mark.parametrize(("asked", "said"), [(3, False), (999, True)])
def test_fewer_threads_than_asked_for_are_told(asked, said, monkeypatch):
    opened = {}
    monkeypatch.setattr(engine, "cpus", lambda: 3)
    monkeypatch.setattr("ragcli.llm.llama.open_generator", lambda path, **how: opened.update(how))
    env = make()
    env.quiet = False
    engine.generator(Config({"threads": Setting(asked, COMMAND_LINE)}, {}), env)
    assert opened["threads"] == 3
    assert ("999 were asked for" in env.stderr.getvalue()) is said
