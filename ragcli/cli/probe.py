"""Load a model and use it once, in a process of its own: a crash there is a finding here.

`python -m ragcli.cli.probe generator|encoder PATH` prints one line: what worked, or why not.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from ragcli.errors import ModelError

_TIMEOUT_S = 300


def probe(kind: str, path: Path) -> str:
    """One line about the model in use. Raises ModelError with the reason if it is unusable."""
    # -P: the working directory, which may be anyone's, lends no modules.
    command = [sys.executable, "-P", "-m", "ragcli.cli.probe", kind, str(path)]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise ModelError(f"no answer within {_TIMEOUT_S} s", hint="try a smaller model") from None
    said = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode == 0:
        return said
    if done.returncode < 0:
        said = f"the engine crashed (signal {-done.returncode})"
    raise ModelError(said or "it cannot be loaded", hint="fetch it again, or choose another model")


def _generator(path: Path) -> str:
    from ragcli.llm.base import Feed, PromptPiece
    from ragcli.llm.llama import open_generator

    start = time.perf_counter()
    generator = open_generator(path, n_ctx=512)
    prompt = generator.chat("Answer briefly.", [PromptPiece("Say hello.")])
    with generator.session(1, n_ctx=512) as session:
        session.start({0: [int(token) for token in prompt.tokens]})
        [output] = session.advance([Feed(0, ())])
    if not abs(float(output.logits.max())) < 1e6:
        raise ModelError("its output is not finite")
    tap = "attention readable" if generator.tap_available else generator.tap_reason
    return f"loads and predicts ({time.perf_counter() - start:.1f} s; {tap})"


def _encoder(path: Path) -> str:
    from ragcli.encoders import open_encoder, resolve_encoder

    start = time.perf_counter()
    vectors = open_encoder(resolve_encoder(str(path))).encode(["a sentence"])
    return f"loads and encodes ({time.perf_counter() - start:.1f} s; {vectors.shape[1]} dimensions)"


def main(arguments: list[str]) -> int:
    """Exit code 0 and what worked, or 1 and why not, on stdout."""
    kind, path = arguments
    try:
        print({"generator": _generator, "encoder": _encoder}[kind](Path(path)))
    except ModelError as error:
        print(error.message)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
