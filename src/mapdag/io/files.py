"""Reading and writing whole files: plain or gzipped, with errors in one sentence and no half-written files.

What is in the files is the business of other modules.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import re
import secrets
import shutil
import stat
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from mapdag.disk import GZIP, check_no_device, unpacked, whole_file
from mapdag.errors import FileError, FormatError, ParameterError
from mapdag.wording import brief

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_ASIDE: set[Path] = set()  # files that are being written, and renamed once they are whole
_OS_ERROR = re.compile(r"\(os error (\d+)\)")


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file, decompressed if it is gzipped."""
    file = _expanded(path)
    check_no_device(file)
    try:
        content = file.read_bytes()
    except IsADirectoryError:
        raise FileError(f"{file} is a directory, not a file{_hint(file)}") from None
    except FileNotFoundError:
        raise FileError(f"{file}: there is no such file{_hint(file)}") from None
    except (OSError, ValueError) as error:  # a path with a null character is a ValueError
        raise FileError(f"{file} cannot be read: {reason(error)}") from error
    return decode(content, str(file))


def decode(content: bytes, source: str) -> str:
    """Return bytes as text, decompressed if they are gzipped; text is UTF-8."""
    if content.startswith(GZIP):
        try:
            content = unpacked(content, source)
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


def check_path(path: object) -> None:
    """Refuse what is no name of a file."""
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"path must be a path, got {brief(path)}")


def check_writable(path: str | os.PathLike[str], suffixes: Sequence[str] = ()) -> None:
    """Refuse a path that cannot be written to, before a long computation whose result should go there.

    Parameters
    ----------
    path : path
        The file need not be there; its folder must.
    suffixes : sequence of str
        What its name may end in, in lower or upper case: `TABLE_SUFFIXES`, `GRAPH_SUFFIXES` or `NETWORK_SUFFIXES` of
        `mapdag.io`. None of them: anything.

    Raises
    ------
    ParameterError
        If the name has another ending.
    FileError
        If the folder is not there, or nothing can be written to it.

    Examples
    --------
    >>> check_writable("rows.xls", [".csv", ".parquet"])
    Traceback (most recent call last):
    mapdag.errors.ParameterError: the name 'rows.xls' does not tell the format: let it end in one of .csv, .parquet
    """
    check_path(path)
    if suffixes and not os.fspath(path).lower().endswith(tuple(suffixes)):
        plain = [each for each in suffixes if not each.endswith(".gz")]
        packed = " (the text formats also with .gz)" if len(plain) < len(suffixes) else ""
        raise ParameterError(
            f"the name {os.fspath(path)!r} does not tell the format: let it end in one of {', '.join(plain)}{packed}"
        )
    file = _expanded(path)
    try:
        _try_writing(Path(os.path.realpath(file)))
    except (OSError, ValueError) as error:
        raise FileError(f"{file} cannot be written: {reason(error)}") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write text as UTF-8 to a file, gzipped if its name ends in ".gz"; in full or not at all."""
    write_file(path, lambda stream: stream.write(text.encode("utf-8")))


def write_file(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a file, gzipped if its name ends in ".gz".

    Everything goes to a temporary file beside it, which is then renamed: the file is either there in full or not at
    all, and what was there before stays until then.
    """
    file = _expanded(path)
    try:
        _replace(Path(os.path.realpath(file)), _zipped(write) if file.suffix.lower() == ".gz" else write)
    except (OSError, ValueError) as error:
        raise FileError(f"{file} cannot be written: {reason(error)}") from error


def reason(error: Exception) -> str:
    """Say why the system refused, in a few words.

    Polars hides the number of the error in its text.

    >>> reason(ValueError("underlying IO error: No space left on device (os error 28)"))
    'no space left on the disk'
    """
    number = getattr(error, "errno", None)
    hidden = _OS_ERROR.search(str(error))
    if number is None and hidden is not None:
        number = int(hidden[1])
    if number in _FULL:
        return "no space left on the disk"
    return str(getattr(error, "strerror", None) or error)


def _zipped(write: Callable[[IO[bytes]], object]) -> Callable[[IO[bytes]], object]:
    def wrapped(stream: IO[bytes]) -> None:
        # Neither name nor time: equal content makes equal files. Level 9 takes 6 times as long to save 1/4.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as zipped:
            write(zipped)  # type: ignore[arg-type]  # typeshed: it is no IO, but has all that matters

    return wrapped


def _replace(file: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Put what `write` writes in the place of a file; devices and pipes are written to directly."""
    if _is_special(file):
        with file.open("wb") as stream:
            write(stream)
        return
    temporary = _temporary(file)
    _ASIDE.add(temporary)
    try:
        with whole_file(file, temporary) as stream:
            write(stream)
            if file.exists():
                shutil.copymode(file, temporary)
    finally:
        _ASIDE.discard(temporary)


def abandon() -> None:
    """Remove what is being written aside, by whoever ends this process before it is done."""
    for temporary in list(_ASIDE):
        with contextlib.suppress(OSError):
            temporary.unlink()


def _try_writing(file: Path) -> None:
    """Do what `_replace` does, as far as that leaves no trace."""
    if file.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if not file.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {file.parent}")
    if _is_special(file):  # whoever waits at the other end of a pipe would take a mere look for the end
        if not os.access(file, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return
    # Permissions do not tell everything: the file system may be read-only.
    temporary = _temporary(file)
    temporary.open("xb").close()
    temporary.unlink()


def _is_special(file: Path) -> bool:
    """Tell whether there is something that is no ordinary file: a device, a pipe, a folder."""
    return file.exists() and not stat.S_ISREG(file.stat().st_mode)


def _temporary(file: Path) -> Path:
    return file.with_name(f".{file.name[:100]}.{secrets.token_hex(4)}.tmp")


def _expanded(path: str | os.PathLike[str]) -> Path:
    """Return a path with "~" replaced by the home directory."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:  # there is no such user
        raise FileError(f"{os.fspath(path)}: {error}") from error


def _hint(file: Path) -> str:
    """Return what to append to "no such file" where a bundled network may have been meant."""
    if file.suffix or len(file.parts) != 1:
        return ""
    return f"; if you meant a bundled network, it is mapdag.network({file.name!r})"
