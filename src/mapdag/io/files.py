"""Reading and writing whole files: plain or gzipped, with errors in one sentence and no half-written files."""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
import shutil
import stat
import zlib
from pathlib import Path
from typing import Any

from mapdag.errors import FileError, FormatError

_GZIP = b"\x1f\x8b"


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file, decompressed if it is gzipped."""
    file = Path(path).expanduser()
    try:
        content = file.read_bytes()
    except IsADirectoryError:
        raise FileError(f"{file} is a directory, not a file") from None
    except FileNotFoundError:
        raise FileError(f"{file}: there is no such file{_hint(file)}") from None
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        raise FileError(f"{file} cannot be read: {_reason(error)}") from error
    return decode(content, str(file))


def decode(content: bytes, source: str) -> str:
    """Return bytes as text, decompressed if they are gzipped; text is UTF-8."""
    if content.startswith(_GZIP):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise FormatError(f"cannot be decompressed, it seems to be damaged or cut off: {error}", source) from error
    if not content.strip():
        raise FormatError("the file is empty", source)
    if b"\0" in content[:4096]:
        raise FormatError("this is not a text file (it has null bytes)", source)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise FormatError(f"not UTF-8 text (byte 0x{byte:02x}); save it as UTF-8 first", source, line) from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file, gzipped if its name ends in ".gz".

    The text goes to a temporary file beside it, which is then renamed: the file is either there in full or not at all,
    and what was there before stays until then.
    """
    file = Path(path).expanduser()
    content = text.encode("utf-8")
    if file.suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)  # no time stamp: equal text makes equal files
    try:
        _replace(Path(os.path.realpath(file)), content)
    except (OSError, ValueError) as error:
        raise FileError(f"{file} cannot be written: {_reason(error)}") from error


def _replace(file: Path, content: bytes) -> None:
    """Put `content` in the place of a file; devices and pipes are written to directly."""
    exists = file.exists()
    if exists and not stat.S_ISREG(file.stat().st_mode):
        with file.open("wb") as stream:
            stream.write(content)
        return
    temporary = file.with_name(f".{file.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())  # some file systems notice only now that they are full
        if exists:
            shutil.copymode(file, temporary)
        temporary.replace(file)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _reason(error: Any) -> str:
    return str(getattr(error, "strerror", None) or error)


def _hint(file: Path) -> str:
    """Return what to append to "no such file" where a bundled network may have been meant."""
    if file.suffix or len(file.parts) != 1:
        return ""
    return f"; if you meant a bundled network, it is mapdag.network({file.name!r})"
