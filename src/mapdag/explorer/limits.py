"""What a request may cost."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What a request may cost.

    Attributes
    ----------
    body : int
        Bytes of a request.
    rows : int
        Rows of a table.
    tables : int
        Tables that are held at a time.
    waiting : int
        Requests that are worked on, or wait for it, at a time: more are refused.
    search : float
        Seconds of a search.
    background : float
        Seconds of what is filled in while one looks at something else.
    patience : float
        Seconds that a client may take to send a request.
    memory : int
        Bytes of scores and counts that are remembered for each table.
    """

    body: int = 200 * MEGABYTE
    rows: int = 2_000_000
    tables: int = 12
    waiting: int = 32
    search: float = 120.0
    background: float = 600.0
    patience: float = 60.0
    memory: int = 256 * MEGABYTE
