"""A stand-in for the Hugging Face hub on 127.0.0.1, with faults to order."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """Repositories by name, each a dict of file contents; what was asked is counted."""

    repositories: dict[str, dict[str, bytes]]
    url: str = ""
    lfs: bool = True  # does the listing tell SHA-256 and size?
    cut_after: list[int] = field(default_factory=list)  # bytes of each next answer, then a cut
    statuses: list[int] = field(default_factory=list)  # of the next downloads
    ranges: bool = True
    wrong_hash: bool = False
    extra: bytes = b""  # sent beyond the file's end
    requests: list[tuple[str, str]] = field(default_factory=list)  # (path, Range)
    sent: int = 0  # bytes of files

    def listing(self, repository: str) -> dict[str, Any]:
        siblings = []
        for name, data in self.repositories[repository].items():
            entry: dict[str, Any] = {"rfilename": name}
            if self.lfs:
                digest = "0" * 64 if self.wrong_hash else hashlib.sha256(data).hexdigest()
                entry |= {"size": len(data), "blobId": "b"}
                entry["lfs"] = {"sha256": digest, "size": len(data), "pointerSize": 1}
            siblings.append(entry)
        return {"id": repository, "sha": COMMIT, "siblings": siblings}


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        hub, path = self.hub, unquote(urlsplit(self.path).path)
        hub.requests.append((path, self.headers.get("Range", "")))
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        if api and api[1] in hub.repositories and api[2] in (None, "main", COMMIT):
            self._answer(200, json.dumps(hub.listing(api[1])).encode())
        elif api and api[1] in hub.repositories:
            self._answer(404, b"", {"X-Error-Code": "RevisionNotFound"})
        elif api:
            self._answer(404, b"", {"X-Error-Code": "RepoNotFound"})
        elif file and file[3] in hub.repositories.get(file[1], {}):
            self._file(hub.repositories[file[1]][file[3]])
        else:
            self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})

    def _file(self, data: bytes) -> None:
        hub = self.hub
        if hub.statuses:
            self._answer(hub.statuses.pop(0), b"")
            return
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(asked[1]) if asked and hub.ranges else 0
        if start > len(data):
            self._answer(416, b"")
            return
        headers = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if start else {}
        body = data[start:] + hub.extra
        kept = hub.cut_after.pop(0) if hub.cut_after else len(body)
        self._answer(206 if start else 200, body, headers, kept)
        hub.sent += kept

    def _answer(
        self,
        status: int,
        body: bytes,
        headers: dict[str, str] | None = None,
        kept: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:kept])
        self.close_connection = True


@contextmanager
def serving(repositories: dict[str, dict[str, bytes]]) -> Iterator[Hub]:
    """The hub, answering at `hub.url` while the block runs."""
    hub = Hub(repositories)
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def connected(
    repositories: dict[str, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hub]:
    """The hub, and this process made to use it."""
    import huggingface_hub
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(repositories) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        yield hub
    huggingface_hub.close_session()
