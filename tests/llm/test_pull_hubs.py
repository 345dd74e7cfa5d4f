"""`models pull`: what a hub does not give, gives in several files, or lies about; hubs that are none."""

from __future__ import annotations

import socket

import pytest
from standin_hub import Hub

from ragcli.errors import ModelError, UsageError
from ragcli.llm import pull
from ragcli.llm.discover import models_dir

from .pulling import MODEL, ONE, OTHER, TARGET, fetch


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("owner/unknown", ModelError, "unknown"),
        ("owner/none", ModelError, "no GGUF file in owner/none"),
        ("owner/evil", ModelError, "outside its folder"),
        ("not a repository", UsageError, "not a repository"),
        ("a/b/c/d", UsageError, "not a repository"),
        ("", UsageError, "not a repository"),
        ("owner/many-GGUF:q5", UsageError, "no file q5"),
    ],
)
def test_what_cannot_be_fetched(hub: Hub, spec: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as failure:
        fetch(spec)
    assert failure.value.hint  # type: ignore[attr-defined]
    assert hub.sent == 0


def test_an_unknown_revision(hub: Hub) -> None:
    with pytest.raises(ModelError, match="no such revision"):
        fetch(revision="nightly")
    assert fetch(revision="main").name == "one.Q4_K_M"


def test_a_file_that_vanished_from_the_hub(hub: Hub) -> None:
    planned = pull.plan(ONE)
    hub.repositories = {}
    with pytest.raises(ModelError, match=r"the hub has no owner/one-GGUF:one\.Q4_K_M\.gguf"):
        pull.fetch(planned, lambda here, total: None)


@pytest.mark.parametrize("status", [401, 403])
def test_a_closed_repository(hub: Hub, status: int) -> None:
    hub.statuses = [status]
    with pytest.raises(ModelError, match="does not give") as failure:
        fetch()
    assert "HF_TOKEN" in failure.value.hint


def test_one_of_several_models_must_be_chosen(hub: Hub) -> None:
    with pytest.raises(
        UsageError, match=r"several models: many\.Q4_K_M \(300\.\d kB\), many\.Q8_0"
    ):
        fetch("owner/many-GGUF")
    assert fetch("owner/many-GGUF:q8").path.read_bytes() == OTHER
    assert fetch("owner/many-GGUF", file="many.Q4_K_M.gguf").path.read_bytes() == MODEL
    with pytest.raises(UsageError, match="two files named"):
        fetch("owner/many-GGUF:q8", file="q4")


def test_a_split_model_comes_whole(hub: Hub) -> None:
    seen: list[int] = []
    model = fetch("owner/split-GGUF", seen=seen)
    assert model.name == "big"
    assert model.size == len(MODEL) + len(OTHER) == seen[-1]
    assert seen == sorted(seen)
    with pytest.raises(UsageError, match="one file"):
        fetch("owner/split-GGUF", sha256="1" * 64)


def test_an_unreachable_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
        with pytest.raises(ModelError, match=r"cannot reach http://127\.0\.0\.1") as failure:
            fetch()
    assert "network" in failure.value.hint


@pytest.mark.parametrize("address", ["huggingface.co", "ftp://x", "http://", "http://x:99999999"])
def test_an_endpoint_that_is_no_address(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", address)
    with pytest.raises(UsageError, match="HF_ENDPOINT"):
        fetch()


def test_an_endpoint_that_is_no_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "listing", lambda repository: ["not", "a", "listing"])
    with pytest.raises(ModelError, match="does not answer as a hub"):
        fetch()


def test_a_hub_that_lies_about_hash_and_commit(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    truth = hub.listing(ONE)

    def listing(repository: str) -> dict[str, object]:
        lies = {"sha256": "../../up", "size": "many", "pointerSize": 1}
        siblings = [{**file, "lfs": lies} for file in truth["siblings"]]
        return {**truth, "sha": "../../main", "siblings": siblings}

    monkeypatch.setattr(hub, "listing", listing)
    with pytest.raises(ModelError, match="the hub has no"):  # and nothing outside the store
        fetch()
    assert {path.parent for path in models_dir().rglob(".*.part")} <= {
        (models_dir() / TARGET).parent
    }


def test_offline_is_respected(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE"):
        fetch()
    assert hub.requests == []
