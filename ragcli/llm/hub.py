"""The Hugging Face hub, as far as `models pull` needs it: what is there, and its bytes.

huggingface_hub answers what a repository holds and lends its HTTP session (endpoint,
token, proxies). The download itself is ours, because `hf_hub_download` of version 2
throws a partial file away: a second run could not continue it.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Protocol
from urllib.parse import urlsplit

from ragcli.errors import ModelError, UsageError
from ragcli.paths import shown

DEFAULT_ENDPOINT = "https://huggingface.co"
WAITS = (1.0, 2.0, 4.0)  # seconds before each new try that follows one without progress
_TIMEOUT = 30.0  # seconds without a byte
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of one commit of a repository. sha256 "" and size None: the hub does not say."""

    repository: str
    revision: str
    name: str
    size: int | None
    sha256: str


class Sink(Protocol):
    """Where bytes go: `size` are there, `restart` drops them."""

    size: int

    def write(self, chunk: bytes) -> None: ...
    def restart(self) -> None: ...


def gguf_files(repository: str, revision: str | None) -> list[HubFile]:
    """The GGUF files of a repository at the commit `revision` points to now, sorted by name.

    Raises UsageError (no such form of name), ModelError (unknown, closed, unreachable).
    """
    api = _library().HfApi(endpoint=endpoint())
    with _translated(repository):
        try:
            info = api.model_info(
                repository, revision=revision, files_metadata=True, timeout=_TIMEOUT
            )
        except (json.JSONDecodeError, LookupError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{endpoint()} does not answer as a hub does", hint="is HF_ENDPOINT right?"
            ) from error
    commit = str(info.sha or revision or "main")
    siblings = [s for s in info.siblings or [] if s.rfilename.lower().endswith(".gguf")]
    files = [_hub_file(repository, commit, sibling) for sibling in siblings]
    return sorted(files, key=lambda file: file.name)


def _hub_file(repository: str, commit: str, sibling: Any) -> HubFile:
    _refuse_unsafe(repository, sibling.rfilename)
    size = sibling.lfs.size if sibling.lfs else sibling.size
    sha256 = str(sibling.lfs.sha256).lower() if sibling.lfs else ""
    return HubFile(
        repository,
        commit,
        sibling.rfilename,
        size if isinstance(size, int) and size > 0 else None,
        sha256 if _SHA256.fullmatch(sha256) else "",
    )


def fetch(file: HubFile, sink: Sink, *, waits: Sequence[float] = WAITS) -> None:
    """Append the missing bytes of `file` to `sink`; a cut connection is taken up again.

    Raises ModelError when the hub refuses, or after `waits` tries without a new byte.
    """
    tries = 0
    while True:
        before = sink.size
        try:
            with _translated(file.repository, file.name):
                if _request(file, sink):
                    return
            reason = "the hub is busy"
        except _Cut as cut:
            reason = cut.reason
        tries = 0 if sink.size > before else tries + 1
        if tries > len(waits):
            raise ModelError(
                f"cannot fetch {shown(file.name)} from {endpoint()}: {reason}",
                hint="run the same command again: it continues where it stopped",
            )
        time.sleep(waits[max(tries - 1, 0)] if waits else 0)


def endpoint() -> str:
    """The hub's address: HF_ENDPOINT, else huggingface.co. Raises UsageError if it is no URL."""
    address = (os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            f"HF_ENDPOINT is not a web address: {shown(address)}",
            hint=f"for example {DEFAULT_ENDPOINT}",
        )
    return address


class _Cut(Exception):
    """The connection failed; what arrived is kept."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _library() -> Any:
    """huggingface_hub, which reads its settings when it is imported."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import huggingface_hub
    import huggingface_hub.utils

    return huggingface_hub


def _request(file: HubFile, sink: Sink) -> bool:
    """One request from where `sink` ends. True: complete; False: try again later."""
    if file.size is not None and sink.size == file.size:
        return True
    library = _library()
    url = library.hf_hub_url(
        file.repository, file.name, revision=file.revision, endpoint=endpoint()
    )
    headers = {**library.utils.build_hf_headers(), "Accept-Encoding": "identity"}
    if sink.size:
        headers["Range"] = f"bytes={sink.size}-"
    session = library.get_session()
    with session.stream("GET", url, headers=headers, timeout=_TIMEOUT) as response:
        if response.status_code in _TRANSIENT:
            return False
        if response.status_code == 416:  # what is here is longer than the file
            sink.restart()
            return False
        library.utils.hf_raise_for_status(response)
        if sink.size and not _continues(response, sink.size):
            sink.restart()
        for chunk in response.iter_bytes():
            _refuse_excess(file, sink.size + len(chunk))
            sink.write(chunk)
    if file.size is not None and sink.size < file.size:
        raise _Cut("the connection ended early")
    return True


def _continues(response: Any, start: int) -> bool:
    """Whether the answer is the asked-for rest, not the whole file again."""
    stated = str(response.headers.get("Content-Range", ""))
    return bool(response.status_code == 206) and stated.startswith(f"bytes {start}-")


def _refuse_excess(file: HubFile, size: int) -> None:
    """A server may not fill the disk beyond what it announced."""
    if file.size is not None and size > file.size:
        raise ModelError(
            f"{shown(file.name)} is longer than the hub says ({file.size:,} bytes)",
            hint="try again; if it stays so, the repository or a proxy is broken",
        )


def _refuse_unsafe(repository: str, name: str) -> None:
    """A file name from the hub becomes a path here: it must stay below its folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not name.isprintable():
        raise ModelError(
            f"{shown(repository)} names a file outside its folder: {shown(ascii(name))}",
            hint="do not use this repository",
        )


@contextmanager
def _translated(repository: str, name: str = "") -> Iterator[None]:
    """Errors of huggingface_hub and its HTTP library as ours."""
    _library()
    from huggingface_hub import errors

    # httpx in version 1, httpx2 in 2: the base of every error of the HTTP library
    transport: type[Exception] = errors.HfHubHTTPError.__bases__[0]
    try:
        yield
    except errors.HFValidationError as error:
        raise UsageError(
            f"not a repository of the hub: {shown(repository)}",
            hint="it looks like owner/name, then :FILE if it holds several models",
        ) from error
    except errors.OfflineModeIsEnabled as error:
        raise ModelError(
            "HF_HUB_OFFLINE is set, so nothing can be fetched", hint="unset it for this command"
        ) from error
    except errors.HfHubHTTPError as error:
        raise _refused(error, repository, name) from error
    except transport as error:
        if name:
            raise _Cut(_reason(error)) from error
        raise ModelError(
            f"cannot reach {endpoint()}: {_reason(error)}",
            hint="check the network; HF_ENDPOINT names another hub",
        ) from error


def _refused(error: Exception, repository: str, name: str) -> ModelError:
    from huggingface_hub import errors

    status = getattr(getattr(error, "response", None), "status_code", 0)
    what = shown(f"{repository}:{name}" if name else repository)
    if isinstance(error, errors.GatedRepoError) or status in (401, 403):
        return ModelError(
            f"the hub does not give {what} to you ({status})",
            hint="it does not exist, is private, or its licence must be accepted on its page; "
            "then set HF_TOKEN",
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return ModelError(f"{what} has no such revision", hint="leave --revision out")
    if status == 404:
        return ModelError(f"the hub has no {what}", hint="check owner, name and file")
    return ModelError(f"the hub refused {what}: status {status}", hint="try again later")


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
