import re
from pathlib import Path

import pytest

from ragcli.cli import demo

from .harness import process


def test_the_folder_of_samples_is_there_and_gone_afterwards(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with demo.sample_folder() as folder:
        assert Path.cwd() == folder.resolve()
        names = {one.name for one in folder.iterdir()}
        assert {"handbook.md", "visiting.html", "water-supply-report.pdf"} <= names
        assert not names & {"questions.jsonl", "README.md"}
    assert not folder.exists()
    assert Path.cwd() == tmp_path


def test_there_are_questions():
    assert len(demo.questions()) >= 2


@pytest.mark.model
@pytest.mark.slow
def test_demo(tmp_path, bundled_model, bundled_encoder_dir):
    done = process(["demo"], cwd=tmp_path)
    assert done.code == 0, done.err
    assert len(re.findall(r"^\[1\] \S+.*“.*”$", done.out, re.MULTILINE)) == 2
    assert "ragcli index FOLDER" in done.out
    assert list(tmp_path.iterdir()) == []
