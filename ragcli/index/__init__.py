"""The index: a SQLite catalog that is the truth, search files derived from it, hybrid search."""
