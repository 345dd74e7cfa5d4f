"""The exported encoder against sentence-transformers, with the real bundled model."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ragcli.encoders import Encoder, EncoderRef, open_encoder, resolve_encoder
from ragcli.encoders.cache import export_folder
from ragcli.errors import ModelError

from .texts import TEXTS

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def ref(bundled_encoder_dir: Path) -> EncoderRef:
    return resolve_encoder(None)


@pytest.fixture(scope="module")
def encoder(ref: EncoderRef) -> Encoder:
    return open_encoder(ref)


def test_it_gives_the_vectors_of_sentence_transformers(encoder: Encoder, tmp_path: Path) -> None:
    # In another process: the import leaves warnings and threads behind.
    script = (
        "import sys, json, numpy as np\n"
        "from sentence_transformers import SentenceTransformer\n"
        "model = SentenceTransformer(sys.argv[1], device='cpu')\n"
        "np.save(sys.argv[2], model.encode(json.loads(sys.stdin.read()), show_progress_bar=False))\n"
    )
    import json

    file = tmp_path / "reference.npy"
    subprocess.run(
        [sys.executable, "-c", script, str(resolve_encoder(None).folder), str(file)],
        input=json.dumps(TEXTS).encode(), check=True, capture_output=True,
    )  # fmt: skip
    cosines = (np.load(file) * encoder.encode(TEXTS)).sum(axis=1)
    assert cosines.min() >= 0.9999, dict(zip(TEXTS, cosines, strict=True))


def test_rows_are_unit_vectors_in_order(encoder: Encoder) -> None:
    together = encoder.encode(TEXTS)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    assert together.shape == (len(TEXTS), encoder.identity.dimension)
    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.abs(together - alone).max() < 1e-4


def test_no_texts_give_no_rows(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, 384)
    assert encoder.count_tokens([]) == []


def test_more_texts_than_are_tokenised_at_once(encoder: Encoder) -> None:
    texts = [f"note {n % 7}" for n in range(1100)]
    vectors = encoder.encode(texts)
    assert np.allclose(vectors[:7], vectors[1092:1099], atol=1e-5)


def test_lone_surrogates_are_read_as_question_marks(encoder: Encoder) -> None:
    assert np.allclose(encoder.encode(["a \udcff b"]), encoder.encode(["a ? b"]), atol=1e-6)
    assert encoder.count_tokens(["\ud800"]) == [1]


def test_tokens_are_counted_uncut_and_without_special_ones(encoder: Encoder) -> None:
    assert encoder.count_tokens(["", "hello there", "hello " * 1000]) == [0, 2, 1000]


def test_meaning_is_near(encoder: Encoder) -> None:
    query, near, far = encoder.encode(["spare fuse", "replacement fuse", "the history of Rome"])
    assert query @ near > query @ far + 0.3


def test_what_lies_beyond_the_window_does_not_count(encoder: Encoder) -> None:
    head = "alpha " * encoder.identity.text_tokens
    assert np.allclose(encoder.encode([head]), encoder.encode([head + "omega"]), atol=1e-6)


def test_the_identity_is_the_models(ref: EncoderRef, encoder: Encoder) -> None:
    assert encoder.identity == ref.identity
    assert (ref.identity.dimension, ref.identity.max_tokens) == (384, 256)
    assert ref.identity.languages == "en"


def test_neither_resolving_nor_encoding_imports_torch(ref: EncoderRef) -> None:
    script = (
        "import sys\n"
        "from ragcli.encoders import open_encoder, resolve_encoder\n"
        "assert 'onnxruntime' not in sys.modules\n"
        "open_encoder(resolve_encoder(None)).encode(['a'])\n"
        "print([n for n in ('torch', 'sentence_transformers', 'transformers') if n in sys.modules])\n"
    )
    open_encoder(ref)  # exported by now
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_two_at_once_export_one_whole_encoder(
    ref: EncoderRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path))
    with ThreadPoolExecutor(2) as pool:
        encoders = list(pool.map(lambda _: open_encoder(ref), range(2)))
    assert np.allclose(encoders[0].encode(["a"]), encoders[1].encode(["a"]))
    assert [p.name for p in export_folder(ref.identity).parent.iterdir()] == [
        export_folder(ref.identity).name
    ]


def test_a_damaged_export_is_named_with_its_remedy(
    ref: EncoderRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCLI_CACHE_DIR", str(tmp_path))
    folder = export_folder(ref.identity)
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text('{"dimension": 384}')
    with pytest.raises(ModelError) as caught:
        open_encoder(ref)
    assert str(folder) in caught.value.hint
