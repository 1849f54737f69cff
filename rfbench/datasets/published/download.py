"""Download a file over HTTPS: resume where it stopped, verify it, and put it into the cache when it is complete."""

import http.client
from contextlib import suppress
from pathlib import Path
from time import sleep
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from rfbench.checks import InputError, in_short
from rfbench.progress import bar
from rfbench.storage import cache_dir, checksum, digest, ensure_dir, not_through_links

TRIES = 3
TIMEOUT_SECONDS = 8.0
PLAIN_HTTP = ("127.0.0.1", "localhost")  # this machine


def download(url: str, expected: str = "") -> Path:
    """The complete file in the cache; `expected` is its checksum as 'md5:…' or 'sha256:…', if known."""
    name = f"{digest(url)[:8]}-{Path(urlsplit(url).path).name}"
    target = ensure_dir(cache_dir() / "downloads") / name
    part = target.with_name(name + ".part")
    reason = ""
    for path in (target, part):
        if path.is_symlink():
            raise InputError(f"{path} is a symbolic link, through which nothing is downloaded; remove it")
    if target.is_file():  # of a download that was stopped before its use
        with suppress(InputError):
            verify(target, expected, url)
    for attempt in range(TRIES):
        sleep(attempt)
        try:
            if target.is_file() or _transfer(url, part):
                break
            reason = "the connection ended early"
        except HTTPError as error:
            if error.code < 500 and error.code != 416:
                raise InputError(f"{url} answers {error.code} {error.reason}") from None
            if error.code == 416:
                # The server has another file now, which is shorter than the part.
                part.unlink(missing_ok=True)
            reason = f"{error.code} {error.reason}"
        except URLError as error:
            raise InputError(f"cannot reach {urlsplit(url).hostname} ({in_short(error.reason)})") from None
        except (OSError, http.client.HTTPException) as error:
            reason = in_short(error)
    else:
        raise InputError(f"{url} was cut off {TRIES} times ({reason}); rerun the command to resume")
    if part.is_file():
        verify(part, expected, url)
        part.replace(target)
    return target


def verify(path: Path, expected: str, origin: str) -> None:
    """Delete and refuse a file whose checksum differs from the expected one, if any."""
    kind, _, wanted = expected.partition(":")
    if expected and (got := checksum(path, kind)) != wanted:
        path.unlink()
        raise InputError(f"{origin}: checksum mismatch (expected {kind} {wanted}, got {got}); the download was deleted")


def _allowed(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in PLAIN_HTTP):
        raise InputError(f"cannot download {url}: only https is allowed")


def _transfer(url: str, part: Path) -> bool:
    """Append the missing bytes to the part; True if it is complete."""
    _allowed(url)
    have = part.stat().st_size if part.is_file() else 0
    request = Request(url, headers={"User-Agent": "rfbench", **({"Range": f"bytes={have}-"} if have else {})})
    with urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        _allowed(response.url)
        if have and response.status != 206:
            have = 0
        left = response.headers.get("Content-Length")
        total = have + int(left) if left else None
        with (
            open(part, "ab" if have else "wb", opener=not_through_links) as file,
            bar(total, part.stem[9:], "B", unit_scale=True, initial=have) as shown,
        ):
            while chunk := response.read(1 << 16):
                file.write(chunk)
                shown.update(len(chunk))
            return total is None or file.tell() == total
