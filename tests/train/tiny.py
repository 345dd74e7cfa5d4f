"""A small encoder with random weights, as Hugging Face saves it: words are its word pieces."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def make_encoder(
    folder: Path, words: Iterable[str], *, hidden: int = 32, layers: int = 2, longest: int = 96
) -> Path:
    """Writes the encoder and returns its folder."""
    vocabulary = {word: at for at, word in enumerate([*SPECIAL, *dict.fromkeys(words)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=hidden, num_hidden_layers=layers,
        num_attention_heads=4, intermediate_size=2 * hidden, max_position_embeddings=longest,
        initializer_range=0.2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
