"""Which label is entailment, and what is refused; models are in tests/encoders/test_cross.py."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ragcli.cite.nli import entailment_label, open_nli, probabilities
from ragcli.cite.verify import check_verifier
from ragcli.errors import ModelError


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["contradiction", "entailment", "neutral"], 1),
        (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], 0),
        (["not_entailment", "entailment"], 1),
        (["entailed", "refuted"], 0),
        (["LABEL_0"], 0),
    ],
)
def test_label(labels: list[str], expected: int) -> None:
    assert entailment_label(labels) == expected


@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1", "LABEL_2"], ["entails", "entailed"]])
def test_labels_that_do_not_say(labels: list[str]) -> None:
    with pytest.raises(ModelError, match="which label"):
        entailment_label(labels)


def test_probabilities() -> None:
    # softmax of (0, ln 3) is (1/4, 3/4); sigmoid of ln 3 is 3/4; huge logits do not overflow
    logits = np.array([[0, np.log(3)], [1e4, 0]], np.float32)
    assert probabilities(logits) == pytest.approx(np.array([[0.25, 0.75], [1, 0]]))
    assert probabilities(logits[:1, 1:]) == pytest.approx(np.array([[0.75]]))


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "not a cross-encoder"),
        ({"config.json": "{"}, "not a cross-encoder"),
        ({"config.json": "[]"}, "not a cross-encoder"),
        ({"config.json": json.dumps({"id2label": {"0": "a", "7": "b"}})}, "not a cross-encoder"),
        ({"config.json": json.dumps({"id2label": {"0": "entailment"}})}, "no model.safetensors"),
        ({"config.json": json.dumps({"id2label": {"0": "a", "1": "b"}}), "model.safetensors": ""},
         "which label means entailment: a, b"),
    ],
)  # fmt: skip
def test_folders_without_a_model(files: dict[str, str], said: str, tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for use in (check_verifier, open_nli):
        with pytest.raises(ModelError, match=said) as caught:
            use(f"nli:{tmp_path}")
        assert caught.value.hint
