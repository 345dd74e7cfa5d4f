"""A cross-encoder with random weights: ``python make_cross.py KIND TOKENIZER TARGET REFERENCE``.

Reads pairs from stdin as JSON and writes the logits that transformers gives to REFERENCE (npy).
"""

from __future__ import annotations

import json
import sys

import numpy as np
import torch
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
)

LABELS = {0: "contradiction", 1: "entailment", 2: "neutral"}
SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "id2label": LABELS, "label2id": {name: at for at, name in LABELS.items()},
    "initializer_range": 0.5,  # so that logits differ
}  # fmt: skip
KINDS = {
    "bert": (BertConfig, BertForSequenceClassification, {"max_position_embeddings": 64}),
    "roberta": (RobertaConfig, RobertaForSequenceClassification,
                {"max_position_embeddings": 66, "pad_token_id": 0}),
    "deberta": (DebertaV2Config, DebertaV2ForSequenceClassification,
                {"max_position_embeddings": 64, "relative_attention": True, "type_vocab_size": 0,
                 "pos_att_type": ["p2c", "c2p"], "position_buckets": 16, "share_att_key": True,
                 "norm_rel_ebd": "layer_norm", "position_biased_input": False}),
}  # fmt: skip


def main(kind: str, tokenizer_folder: str, target: str, reference: str) -> None:
    torch.manual_seed(3)
    config, model_class, more = KINDS[kind]
    base = AutoTokenizer.from_pretrained(tokenizer_folder)
    inputs = ["input_ids", "attention_mask"] + (["token_type_ids"] if kind == "bert" else [])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=base.backend_tokenizer, model_max_length=64, pad_token="[PAD]",
        cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]", mask_token="[MASK]",
        model_input_names=inputs,
    )  # fmt: skip
    model = model_class(config(vocab_size=len(tokenizer), **SMALL, **more)).eval()
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
    encoded = tokenizer(
        [tuple(pair) for pair in json.load(sys.stdin)],
        padding=True, truncation=True, max_length=64, return_tensors="pt",
    )  # fmt: skip
    with torch.no_grad():
        np.save(reference, model(**encoded).logits.numpy())


if __name__ == "__main__":
    main(*sys.argv[1:])
