"""One file over HTTPS: resumed where it was cut off, checked, and in the cache whole or not at all."""

import hashlib
import http.client
from pathlib import Path
from time import sleep
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from rfbench.checks import InputError
from rfbench.storage import cache_dir, checksum, ensure_dir

TRIES = 3
TIMEOUT_SECONDS = 8.0
PLAIN_HTTP = ("127.0.0.1", "localhost")  # this machine


def download(url: str, wanted: str = "") -> Path:
    """The file, complete, in the cache; `wanted` is its checksum as 'md5:…' or 'sha256:…', if known."""
    name = f"{hashlib.sha256(url.encode()).hexdigest()[:8]}-{Path(urlsplit(url).path).name}"
    target = ensure_dir(cache_dir() / "downloads") / name
    part = target.with_name(name + ".part")
    reason = ""
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
                # The part is no beginning of what the server has now.
                part.unlink(missing_ok=True)
            reason = f"{error.code} {error.reason}"
        except URLError as error:
            raise InputError(f"{urlsplit(url).hostname} cannot be reached ({error.reason})") from None
        except (OSError, http.client.HTTPException) as error:
            reason = str(error)
    else:
        raise InputError(f"{url} was cut off {TRIES} times ({reason}); run it again to go on from there")
    if part.is_file():
        verify(part, wanted, url)
        part.replace(target)
    return target


def verify(path: Path, wanted: str, origin: str) -> None:
    """Delete the file and refuse it unless its checksum is the one wanted."""
    kind, _, digest = wanted.partition(":")
    if wanted and (got := checksum(path, kind)) != digest:
        path.unlink()
        raise InputError(f"{origin}: {kind} {digest} wanted, {got} got; the file was thrown away")


def _allowed(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in PLAIN_HTTP):
        raise InputError(f"only https is fetched; {url} was asked for")


def _transfer(url: str, part: Path) -> bool:
    """Add what is missing to the part; True when the server has no more to send."""
    from tqdm import tqdm

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
            part.open("ab" if have else "wb") as file,
            tqdm(desc=part.stem[9:], total=total, initial=have, unit="B", unit_scale=True, disable=None) as bar,
        ):
            while chunk := response.read(1 << 16):
                file.write(chunk)
                bar.update(len(chunk))
            return total is None or file.tell() == total
