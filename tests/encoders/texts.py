"""Texts that encoders trip over."""

from __future__ import annotations

TEXTS = [
    "",
    "   \n",
    "How is the valve in room 20 opened?",
    "word",
    "The boiler's pressure limit is 3 bar. " * 80,  # far beyond 256 word pieces
    "0123456789" * 2000,  # one endless token
    "Prüfstück, naïve café, ﬁne",
    "Pru\u0308fstu\u0308ck",  # decomposed
    "北京是中华人民共和国的首都",
    "Здравствуйте, мир",
    "emoji 🙂👩‍👩‍👧 and \x00 control \x1b[31m characters",
    "[CLS] [SEP] [MASK] <|im_end|>",
    "def f(x):\n    return x ** 2  # code",
    "UPPER lower MiXeD",
]
