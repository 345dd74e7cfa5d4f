"""Saved beginnings of prompts: same scores with and without, and no file is trusted blindly."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragcli.llm import prefix
from ragcli.llm.backend import Status
from ragcli.llm.base import Feed, Prompt, PromptPiece
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.layout import Codec, encode
from ragcli.llm.llama import open_generator
from ragcli.llm.prompts import decompose, relevance
from ragcli.llm.session import BranchSession
from ragcli.llm.states import MAX_FILES, StateFiles
from tests.llm.fakes import FakeContext

TOKENS = np.arange(20, dtype=np.int32)
IDENTITY = {"model": "a" * 64, "threads": 2}


def _files(folder: Path, **changes: object) -> StateFiles:
    return StateFiles(folder / "states", {**IDENTITY, **changes})


def test_what_was_saved_is_read_again_by_its_owner_alone(tmp_path: Path) -> None:
    files = _files(tmp_path)
    files.save(TOKENS, b"state")
    assert files.load(TOKENS) == b"state"
    assert stat.S_IMODE(files.path(TOKENS).stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "states").stat().st_mode) == 0o700
    assert [path.suffix for path in (tmp_path / "states").iterdir()] == [".state"]


def test_another_prompt_model_or_engine_is_another_state(tmp_path: Path) -> None:
    _files(tmp_path).save(TOKENS, b"state")
    assert _files(tmp_path).load(TOKENS[:-1]) is None
    assert _files(tmp_path).load(TOKENS + 1) is None
    assert _files(tmp_path, model="b" * 64).load(TOKENS) is None
    assert _files(tmp_path, threads=3).load(TOKENS) is None


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def _foreign(path: Path) -> None:
    """A well-formed state of another prompt under this one's name."""
    other = _files(path.parent.parent)
    other.save(TOKENS + 1, b"other")
    other.path(TOKENS + 1).replace(path)


def _link(path: Path) -> None:
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _writable(path: Path) -> None:
    path.chmod(0o666)


def _open_folder(path: Path) -> None:
    path.parent.chmod(0o777)


SPOILT = (_cut, _flip, _foreign, _link, _folder, _fifo, _writable, _open_folder, Path.unlink)


@pytest.mark.parametrize("spoil", SPOILT, ids=lambda one: one.__name__)
def test_a_spoilt_file_is_passed_over(tmp_path: Path, spoil: object) -> None:
    files = _files(tmp_path)
    files.save(TOKENS, b"state")
    spoil(files.path(TOKENS))  # type: ignore[operator]
    assert files.load(TOKENS) is None


@pytest.mark.parametrize("spoil", [_cut, _flip, _foreign, _link, _fifo, _writable, Path.unlink])
def test_a_spoilt_file_is_written_anew(tmp_path: Path, spoil: object) -> None:
    files = _files(tmp_path)
    files.save(TOKENS, b"state")
    spoil(files.path(TOKENS))  # type: ignore[operator]
    files.save(TOKENS, b"again")
    assert files.load(TOKENS) == b"again"


def test_the_folder_stays_within_bounds_and_keeps_what_was_used(tmp_path: Path) -> None:
    files = StateFiles(tmp_path / "states", IDENTITY, max_total=2000)
    for number in range(6):
        files.save(TOKENS + number, bytes(500))
        os.utime(files.path(TOKENS + number), (number, number))
        files.load(TOKENS)  # the oldest, but in use
    sizes = [path.stat().st_size for path in (tmp_path / "states").iterdir()]
    assert sum(sizes) <= 2000
    assert files.load(TOKENS) is not None
    assert files.load(TOKENS + 1) is None
    files.save(TOKENS, bytes(3000))
    assert files.load(TOKENS) == bytes(500), "a state too large for the folder is not kept"


def test_the_folder_holds_so_many_files(tmp_path: Path) -> None:
    files = _files(tmp_path)
    for number in range(MAX_FILES + 3):
        files.save(TOKENS + number, b"state")
    assert len(list((tmp_path / "states").iterdir())) == MAX_FILES


def test_a_half_written_file_goes_after_a_while(tmp_path: Path) -> None:
    files = _files(tmp_path)
    files.save(TOKENS, b"state")
    old, new = tmp_path / "states" / "x.part", tmp_path / "states" / "y.part"
    old.touch()
    new.touch()
    os.utime(old, (1, 1))
    files.save(TOKENS, b"state")
    assert not old.exists()
    assert new.exists(), "another process may be writing it"


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "states").write_text("not a folder")
    files = _files(tmp_path)
    files.save(TOKENS, b"state")
    assert files.load(TOKENS) is None


class Stateful(FakeContext):
    """A context whose states are token lists; refuse: what `restore` says."""

    def __init__(self, *, refuse: bool = False) -> None:
        super().__init__(200, tap=False)
        self.refuse, self.restored = refuse, 0

    def state(self, sequence: int) -> bytes:
        cells = sorted(self._pool[cell][:2] for cell in self._of(sequence))
        return np.array([token for _, token in cells], np.int32).tobytes()

    def restore(self, sequence: int, state: bytes, length: int) -> bool:
        if self.refuse or len(state) != 4 * length:
            return False
        for position, token in enumerate(np.frombuffer(state, np.int32).tolist()):
            self._pool[len(self._pool)] = (position, token, {sequence})
        self.restored += 1
        return True


def _scored(context: Stateful, folder: Path | None) -> list[list[float]]:
    states = None if folder is None else _files(folder)
    prompts = {slot: [*TOKENS.tolist(), slot + 1, 7] for slot in range(3)}
    with BranchSession(lambda _n: context, 4, limit=200, n_ctx=200, states=states) as session:
        session.start(prompts, keep=True, reserve=0, prefix=TOKENS)
        return [one.logits[0].tolist() for one in session.advance([Feed(s) for s in prompts])]


def test_a_session_takes_the_prefix_from_disk(tmp_path: Path) -> None:
    plain, first, second = Stateful(), Stateful(), Stateful()
    wanted = _scored(plain, None)
    assert _scored(first, tmp_path) == wanted
    assert _scored(second, tmp_path) == wanted
    assert (first.restored, second.restored) == (0, 1)
    assert sum(first.decodes) == sum(second.decodes) + len(TOKENS) == sum(plain.decodes)


def test_a_state_that_the_engine_refuses_is_decoded_and_written_anew(tmp_path: Path) -> None:
    wanted = _scored(Stateful(), tmp_path)
    refusing = Stateful(refuse=True)
    assert _scored(refusing, tmp_path) == wanted
    assert sum(refusing.decodes) == len(TOKENS) + 6
    _files(tmp_path).save(TOKENS, b"not a state")
    assert _scored(Stateful(), tmp_path) == wanted
    assert _scored(healed := Stateful(), tmp_path) == wanted
    assert healed.restored == 1


def test_a_prefix_that_does_not_fit_leaves_the_session_usable() -> None:
    context = Stateful()
    context.fail = [Status.OK, Status.ABORTED]
    assert _scored(context, None) == _scored(Stateful(), None)


def _characters() -> Codec:
    return Codec(
        plain=lambda text: [ord(one) for one in text],
        control=lambda text: [ord(one) for one in text],
        piece=lambda token: chr(token).encode(),
    )


def test_fixed_tokens_end_before_the_question() -> None:
    pieces = [PromptPiece("<s>", control=True), PromptPiece("Say: ", fixed=True), PromptPiece("no")]
    prompt = encode(pieces, _characters())
    assert 3 < prompt.fixed < len("<s>Say: ")
    assert encode(pieces[2:], _characters()).fixed == 0
    assert encode(pieces[:2], _characters()).fixed == len("<s>Say: ")


def test_the_prefix_is_what_all_prompts_share() -> None:
    def made(shown: str, question: str) -> NDArray[np.int32]:
        pieces = [PromptPiece(shown, fixed=True), PromptPiece(question)]
        return encode(pieces, _characters())  # type: ignore[return-value]

    long = "one two three four five six seven "
    same = [made(long, "a"), made(long, "b")]
    assert len(prefix.fixed_prefix(same)) > prefix.SHORTEST  # type: ignore[arg-type]
    assert len(prefix.fixed_prefix([*same, made("other", "a")])) == 0  # type: ignore[list-item]
    assert len(prefix.fixed_prefix([])) == 0


PROGRAM = """
import json, sys
from pathlib import Path
from ragcli.llm.base import Prompt
from ragcli.llm.llama import open_generator
from ragcli.llm.prompts import decompose, relevance
from tests.llm.test_states import scores
with open_generator(Path(sys.argv[1]), threads=1, keep_states=sys.argv[2] == "keep") as generator:
    print(json.dumps(scores(generator)))
"""


def scores(generator: LlamaGenerator) -> list[float]:
    """Of two few-shot prompts and a chat: what the steps ask."""
    given = generator.encode(Prompt(decompose.fixed("Which engineer built the bridge of Ribe?")))
    tokens = [generator.vocabulary.tokenize(text) for text in (" Ribe", " engineer", " none")]
    likely = generator.loglikelihood([given] * 3, tokens)
    chats = [
        generator.chat(relevance.SYSTEM, relevance.user("", text, "the bridge"))
        for text in ("It was built in 1931.", "A mill stands on the hill.")
    ]
    return [*likely.tolist(), *generator.score_next(chats, [1, 2]).ravel().tolist()]


@pytest.mark.model
def test_scores_are_the_same_in_the_next_process(bundled_model: Path, tmp_path: Path) -> None:
    def run(keep: str) -> list[float]:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(bundled_model), keep],
            env={**os.environ, "RAGCLI_CACHE_DIR": str(tmp_path)},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        found: list[float] = json.loads(done.stdout)
        return found

    without = run("no")
    assert not (tmp_path / "states").exists()
    first = run("keep")
    kept = sorted((tmp_path / "states").iterdir())
    assert len(kept) == 2
    before = [path.stat().st_mtime_ns for path in kept]
    second = run("keep")
    assert without == first == second
    assert sorted((tmp_path / "states").iterdir()) == kept
    assert [path.stat().st_mtime_ns for path in kept] != before, "they were used"


@pytest.mark.model
def test_a_real_engine_refuses_what_is_no_state(
    bundled_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Well-formed files of ours with nonsense inside: decoded anew, and mended."""
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path))
    with open_generator(bundled_model, threads=1) as generator:
        wanted = scores(generator)
        good = {path: path.read_bytes() for path in (tmp_path / "states").iterdir()}
    monkeypatch.setattr(StateFiles, "load", lambda _self, _tokens: b"nonsense" * 100)
    with open_generator(bundled_model, threads=1) as generator:
        assert scores(generator) == wanted
    assert {path: path.read_bytes() for path in (tmp_path / "states").iterdir()} == good
