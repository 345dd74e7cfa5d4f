"""One branch, greedy, against llama-cpp-python's own high-level API."""

from __future__ import annotations

from pathlib import Path

import llama_cpp
import numpy as np
import pytest

from ragcli.llm.base import Feed, PromptPiece
from ragcli.llm.generator import LlamaGenerator

pytestmark = pytest.mark.model

# Both decode the prompt in one batch and then token by token, with the same shapes; what is
# left is the cache's own layout. Where two runs part, their best two tokens are this close.
NOISE = 0.05
QUESTIONS = [
    "What is the capital of France?",
    "Why is the sky blue? One sentence.",
    "Translate 'good morning' into Spanish.",
]
STEPS = 16


@pytest.fixture(scope="module")
def reference(bundled_model: Path) -> llama_cpp.Llama:
    return llama_cpp.Llama(
        str(bundled_model),
        n_ctx=512,
        n_batch=512,
        n_ubatch=512,
        n_threads=1,
        n_threads_batch=1,
        flash_attn=False,
        logits_all=False,
        verbose=False,
        n_gpu_layers=0,
    )


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("tap", [True, False])
def test_same_tokens(
    generator: LlamaGenerator, reference: llama_cpp.Llama, question: str, tap: bool
) -> None:
    prompt = generator.chat("You answer briefly.", [PromptPiece(question)]).tokens.tolist()
    reference.reset()
    expected = []
    for token in reference.generate(prompt, temp=0.0, top_k=1):
        expected.append(token)
        if len(expected) == STEPS or generator.vocabulary.is_end(token):
            break
    with generator.session(1, tap=tap) as session:
        session.start({0: prompt})
        feed: list[int] = []
        for token in expected:
            (output,) = session.advance([Feed(0, feed)])
            logits = output.logits[0]
            if logits.argmax() != token:
                assert logits.max() - logits[token] < NOISE
                break
            feed = [token]


def test_attention_off_and_on_give_the_same_bits(generator: LlamaGenerator) -> None:
    prompt = generator.chat("", [PromptPiece("Say yes.")]).tokens
    rows = []
    for tap in (True, False):
        with generator.session(1, tap=tap) as session:
            session.start({0: prompt})
            rows.append(session.advance([Feed(0, prompt[:5], "all")])[0].logits)
    np.testing.assert_array_equal(*rows)
