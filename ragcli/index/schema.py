"""The catalog's tables, and the versions that an index must share with this program.

The catalog is one SQLite file, the truth of an index. Paths are bytes, as on disk.
Offsets are code points of a file's extracted text.

    roots     folders that were indexed; `path` is relative to the folder that holds
              `.ragcli` where the root lies inside it, so that a project can be moved
    files     every file found, those skipped and failed too, with the reason
    chunks    extracted text in pieces of CHUNK code points, compressed
    passages  spans that are retrieved; `sentences` packs int32 (n, 5) little endian:
              start, end, line, page (0: none), heading (1); `places` is a JSON list of
              their places in the file, "" where the format has none; `terms` holds the lexical terms of
              title, heading and body, one field a line, compressed
    vectors   one a distinct encoded text, keyed by encoder and text: a moved file, a
              duplicate or an unchanged passage never costs a second encoding
"""

from __future__ import annotations

SCHEMA_VERSION = 3
REBUILD = "rebuild it: ragcli index --rebuild"  # the hint where an index cannot be used
CHUNKING_VERSION = "2"  # raise it when files are read, passages cut or encoded in another way
APPLICATION_ID = 0x52414743  # "RAGC" in the SQLite header
CHUNK = 32_768
SENTENCE_IDS = 65_536  # sentences numbered within a passage: id = passage · this + ordinal

TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE roots (id INTEGER PRIMARY KEY, path BLOB NOT NULL, relative INTEGER NOT NULL, "
    "UNIQUE (path, relative))",
    "CREATE TABLE files (id INTEGER PRIMARY KEY AUTOINCREMENT, root_id INTEGER NOT NULL, "
    "path BLOB NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, "
    "ctime_ns INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, sha256 TEXT NOT NULL, "
    "kind TEXT NOT NULL, language TEXT NOT NULL, title TEXT NOT NULL, length INTEGER NOT NULL, "
    "details TEXT NOT NULL, UNIQUE (root_id, path))",
    "CREATE INDEX files_sha256 ON files (sha256)",
    "CREATE TABLE chunks (file_id INTEGER NOT NULL, start INTEGER NOT NULL, data BLOB NOT NULL)",
    "CREATE UNIQUE INDEX chunks_place ON chunks (file_id, start)",
    "CREATE TABLE passages (id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER NOT NULL, "
    "start INTEGER NOT NULL, end INTEGER NOT NULL, page INTEGER NOT NULL, line INTEGER NOT NULL, "
    "heading TEXT NOT NULL, vector_id INTEGER NOT NULL, sentences BLOB NOT NULL, "
    "places TEXT NOT NULL, terms BLOB NOT NULL)",
    "CREATE INDEX passages_file ON passages (file_id, start)",
    "CREATE INDEX passages_vector ON passages (vector_id)",
    "CREATE TABLE vectors (id INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, "
    "vector BLOB NOT NULL)",
)
