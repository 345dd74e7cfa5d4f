import io

import pytest

from ragcli.cli import engine
from ragcli.cli.config import Config
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
