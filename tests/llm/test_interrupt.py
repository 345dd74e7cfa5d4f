"""Ctrl-C and cancellation while the engine works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ragcli.errors import Interrupted
from ragcli.llm.base import Feed
from ragcli.llm.generator import LlamaGenerator
from ragcli.llm.interrupt import Pending, held_back
from ragcli.llm.llama import open_generator
from tests.llm import tiny

LONG = np.random.default_rng(0).integers(100, 40000, 700).tolist()


@pytest.mark.model
def test_a_cancelled_prefill_stops_and_the_session_goes_on(generator: LlamaGenerator) -> None:
    with generator.session(2) as session:
        session.start({0: LONG[:20], 1: LONG})
        (first,) = session.advance([Feed(0)])
        generator.cancel = lambda: session.decoded(1) > 0  # in its second batch
        try:
            with pytest.raises(Interrupted):
                session.advance([Feed(0, [7]), Feed(1)])
        finally:
            generator.cancel = None
        assert (session.length(0), session.decoded(0)) == (20, 20)
        assert (session.length(1), session.decoded(1)) == (700, 0)
        (again,) = session.advance([Feed(0)])
        np.testing.assert_allclose(again.logits, first.logits, atol=1.5)
        session.truncate(1, 30)
        (late,) = session.advance([Feed(1)])
        with generator.session(1) as fresh:
            fresh.start({0: LONG[:30]})
            (expected,) = fresh.advance([Feed(0)])
        np.testing.assert_allclose(late.logits, expected.logits, atol=1.5)


@pytest.mark.model
def test_ctrl_c_is_quick_in_a_long_prefill(bundled_model: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from ragcli.llm.llama import open_generator; from ragcli.llm.base import Feed\n"
        "g = open_generator(Path(sys.argv[1]), threads=1)\n"
        "s = g.session(1); s.start({0: [7] * 8000})\n"
        "print('reading', flush=True)\n"
        "try: s.advance([Feed(0)])\n"
        "except KeyboardInterrupt: print('stopped', s.length(0), s.decoded(0), flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, os.fspath(bundled_model)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process:
        assert process.stdout.readline() == "reading\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "stopped 8000 0\n"
        assert time.perf_counter() - start < 2.0  # the whole prompt takes much longer
    assert process.returncode == 0


def test_a_signal_is_delivered_after_the_books_agree(tmp_path: Path) -> None:
    with (
        open_generator(tiny.write_llama(tmp_path / "m.gguf"), threads=1) as generator,
        generator.session(1) as session,
    ):
        session.start({0: [1, 2, 3]})
        decode = session._backend.decode

        def signalled(batch: object) -> object:
            signal.raise_signal(signal.SIGINT)
            return decode(batch)

        session._backend.decode = signalled
        with pytest.raises(KeyboardInterrupt):
            session.advance([Feed(0)])
        assert session.decoded(0) == 3
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_programs_own_handler_is_left_alone() -> None:
    calls = []
    previous = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    try:
        with held_back(Pending()):
            signal.raise_signal(signal.SIGINT)
            assert calls == [1]
    finally:
        signal.signal(signal.SIGINT, previous)


def test_other_threads_do_not_touch_handlers() -> None:
    errors: list[BaseException] = []

    def work() -> None:
        try:
            with held_back(Pending()):
                pass
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []


@pytest.mark.parametrize("entry", ["llama_model_load_from_file", "llama_init_from_model"])
def test_ctrl_c_while_it_loads(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """llama.cpp logs meanwhile: raised in that callback, the exception would be printed and lost."""
    from ragcli.llm.llama import C

    real = getattr(C, entry)
    loaded = []

    def signalled(*arguments: object) -> object:
        os.kill(os.getpid(), signal.SIGINT)
        loaded.append(real(*arguments))
        return loaded[-1]

    monkeypatch.setattr(C, entry, signalled)
    path = tiny.write_llama(tmp_path / "m.gguf")
    with (
        pytest.raises(KeyboardInterrupt),
        open_generator(path, threads=1) as generator,
        generator.session(1) as session,
    ):
        session.start({0: [1, 2, 3]})
    assert len(loaded) == 1
    assert (loaded[0] is None) == (entry == "llama_model_load_from_file")  # stopped on the way
    assert capfd.readouterr() == ("", "")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
