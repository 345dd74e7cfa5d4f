import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.cli import config, userfile
from ragcli.cli.environment import Color, Environment
from ragcli.cli.keys import MODES
from ragcli.errors import UsageError
from ragcli.types import SearchMode

from .harness import invoke


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A working directory with an index, a user's folder beside it."""
    monkeypatch.setenv("RAGCLI_CONFIG_DIR", str(tmp_path / "user"))
    (tmp_path / "user").mkdir()
    (tmp_path / "work" / ".ragcli").mkdir(parents=True)
    (tmp_path / "work" / ".ragcli" / "catalog.sqlite").write_bytes(b"")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def user(place: Path, text: str) -> None:
    (place / "user" / "config.toml").write_text(text, encoding="utf-8")


def project(place: Path, text: str) -> None:
    (place / "work" / ".ragcli" / "config.toml").write_text(text, encoding="utf-8")


def load(flags=None, **environ):
    import io

    env = Environment(io.StringIO(), io.StringIO(), io.StringIO(), environ)
    return config.load(env, flags), env


def test_nothing_set(place):
    found, _ = load()
    assert (found["k"], found["method"], found.assignments) == (10, "fke", [])


def test_modes_are_those_of_the_index():
    assert set(MODES) == set(SearchMode)


def test_precedence(place):
    sources = [
        lambda: user(place, "k = 1\n[fke]\nalpha = 0.1\n"),
        lambda: project(place, "k = 2\n[fke]\nalpha = 0.2\n"),
    ]
    for number, write in enumerate(sources, start=1):
        write()
        found, _ = load()
        assert (found["k"], found.assignments) == (number, [f"fke.alpha=0.{number}"])
    environ = {"RAGCLI_K": "3", "RAGCLI_SET": "fke.alpha=0.3"}
    found, _ = load(**environ)
    assert (found["k"], found.assignments) == (3, ["fke.alpha=0.3"])
    assert found.settings["k"].origin == "environment"
    found, _ = load({"k": 4, "settings": ["fke.alpha=0.4"], "mode": None}, **environ)
    assert (found["k"], found.assignments) == (4, ["fke.alpha=0.4"])


def test_a_flag_beats_the_same_setting_under_its_full_name(place):
    user(place, "[sampling]\nseed = 1\nmax_tokens = 9\n")
    found, _ = load({"seed": 7})
    assert sorted(found.assignments) == ["sampling.max_tokens=9", "sampling.seed=7"]


def test_color_reaches_the_environment(place):
    user(place, 'color = "always"\n')
    _, env = load()
    assert env.color is Color.ALWAYS


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("modell = 'x'", "unknown setting: modell", "did you mean model?"),
        ("k = 0", "k must be an integer of at least 1", ""),
        ("k = true", "k must be an integer", ""),
        ("mode = 'fast'", "mode must be hybrid or lexical or dense", ""),
        ("model = ''", "model must be a text", ""),
        ("[fke]\nalhpa = 1", "unknown setting: fke.alhpa (did you mean fke.alpha?)", "methods"),
        ("[fke]\nalpha = 'x'", "fke.alpha=x is not allowed", "default"),
        ("[fke.deep]\nx = 1", "fke.deep must be a text, a number", ""),
        ("k = [1]", "k must be a text, a number, true or false", ""),
        ("k = ", "is not valid TOML", ""),
    ],
)
def test_a_wrong_file_is_refused_by_name(place, text, message, hint):
    user(place, text)
    with pytest.raises(UsageError) as error:
        load()
    assert message in error.value.message
    assert hint in error.value.hint
    assert "config.toml" in error.value.message


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * 70_000])
def test_a_file_that_is_no_text_or_too_long(place, content):
    (place / "user" / "config.toml").write_bytes(content)
    with pytest.raises(UsageError):
        load()


@pytest.mark.parametrize(
    "line",
    [
        "model = '/tmp/evil.gguf'",
        "encoder = 'x'",
        "verifier = 'nli:/tmp/x'",
        "index = '/'",
        "threads = 1",
        "ctx = 512",
        "gpu_layers = 1",
        "color = 'never'",
    ],
)
def test_a_folder_may_not_decide_what_runs(place, line):
    project(place, line)
    with pytest.raises(UsageError, match="own configuration may not"):
        load()


def test_a_folder_may_set_retrieval_and_methods(place):
    project(place, 'k = 3\nmode = "lexical"\nmethod = "fke"\nseed = 2\n[retrieval]\nk = 5\n')
    found, _ = load()
    assert (found["k"], found["mode"], found["method"]) == (3, "lexical", "fke")
    assert sorted(found.assignments) == ["retrieval.k=5", "sampling.seed=2"]


def test_a_folder_may_not_name_paths_in_method_settings(place):
    project(place, "[fke]\npreset = '/tmp/x'\n")
    with pytest.raises(UsageError, match="to a path"):
        load()


def test_the_chosen_index_has_the_say(place, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.toml").write_text("k = 9\n")
    project(place, "k = 2\n")
    assert load({"index": tmp_path / "other"})[0]["k"] == 9


@pytest.mark.parametrize(
    ("texts", "given"),
    [
        (["fke.alpha=1"], {"fke.alpha": "1"}),
        (["a.b=1 c.d=2", "e.f=3"], {"a.b": "1", "c.d": "2", "e.f": "3"}),
        (["a.b=1,c.d=2, e.f=3"], {"a.b": "1", "c.d": "2", "e.f": "3"}),
        (["a.b=1,2,3"], {"a.b": "1,2,3"}),
        (["a.b=1", "a.b=2"], {"a.b": "2"}),
        ([""], {}),
    ],
)
def test_assigned(texts, given):
    assert config.assigned(texts) == given


@pytest.mark.parametrize("text", ["fke.alpha", "alpha=1", "=1"])
def test_no_assignment(text):
    with pytest.raises(UsageError, match="not a setting"):
        config.assigned([text])


def test_set_keeps_comments_and_order(place):
    user(place, "# mine\nk = 3  # few\n\n[fke]\n# weight\nalpha = 0.5\n\n[drag]\ngamma = 1\n")
    for key, value in (("k", "7"), ("fke.alpha", "0.25"), ("fke.m", "2"), ("mode", "dense")):
        userfile.write(key, value)
    assert (place / "user" / "config.toml").read_text() == (
        '# mine\nk = 7  # few\nmode = "dense"\n\n'
        "[fke]\n# weight\nalpha = 0.25\nm = 2\n\n[drag]\ngamma = 1\n"
    )
    assert load()[0]["k"] == 7


def test_set_makes_the_file(place, monkeypatch):
    monkeypatch.setenv("RAGCLI_CONFIG_DIR", str(place / "new" / "folder"))
    file = userfile.write("cad.a", "0.75")
    assert file.read_text() == "[cad]\na = 0.75\n"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip))
def test_any_text_survives(text):
    changed = userfile.replace("k = 1\n", "model", userfile._toml(text))
    assert tomllib.loads(changed) == {"k": 1, "model": text}


@pytest.mark.parametrize(
    "text", ["fke.alpha = 1\n", '"k" = 1\n', 'model = """\nk = 2\n"""\nk = 1\n']
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(text):
    with pytest.raises((UsageError, tomllib.TOMLDecodeError)):
        userfile.replace(text, "fke.alpha" if "fke" in text else "k", "2")


@pytest.mark.parametrize(
    ("key", "value"), [("k", "0"), ("modle", "x"), ("fke.alhpa", "1"), ("fke.alpha", "x")]
)
def test_set_refuses_what_is_wrong(place, key, value):
    result = invoke("config", "set", key, value)
    assert result.code == 2
    assert not (place / "user" / "config.toml").exists()


def test_show(place):
    user(place, 'model = "/models/a.gguf"\n[fke]\nalpha = 0.5\n')
    rows = invoke("config").out
    assert re.search(rf"model +/models/a.gguf +{place}/user/config.toml", rows)
    assert "fke.alpha" in rows
    assert "(all CPUs)" in rows
    document = invoke("config", "--json", "-q").json("config@1")
    by_key = {row["key"]: row for row in document["settings"]}
    assert by_key["model"]["value"] == "/models/a.gguf"
    assert by_key["k"]["origin"] == "default"
    assert by_key["fke.alpha"]["value"] == 0.5


def test_path_set_and_misspelled_variables(place):
    assert invoke("config", "path").out == f"{place}/user/config.toml\n"
    assert invoke("config", "set", "k", "4").code == 0
    result = invoke("config", environ={"RAGCLI_MODLE": "x"})
    assert "RAGCLI_MODLE is not a setting" in result.err
    assert re.search("k +4 ", result.out)
