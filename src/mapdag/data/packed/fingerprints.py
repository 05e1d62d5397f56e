"""How to tell that a file is the one that was read before."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mapdag.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

_ENDS = 2**16  # bytes at either end


@dataclass(frozen=True)
class Fingerprint:
    """What is remembered of a file: its size, when it was changed, and how it starts and ends."""

    size: int
    changed: int  # nanoseconds
    ends: str  # a digest

    @classmethod
    def of(cls, path: Path) -> Fingerprint:
        """Look at a file."""
        try:
            with path.open("rb") as file:
                digest = hashlib.blake2b(file.read(_ENDS), digest_size=16)
                size = file.seek(0, 2)
                file.seek(max(size - _ENDS, 0))
                digest.update(file.read(_ENDS))
                return cls(size, path.stat().st_mtime_ns, digest.hexdigest())
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror or error}") from error

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)
