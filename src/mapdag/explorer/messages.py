"""What comes in and goes out: requests in JSON, checked, and answers in JSON, or as sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from mapdag.errors import CapacityError, MapdagError, MissingExtraError, ParameterError
from mapdag.explorer.guard import Refused
from mapdag.explorer.jobs import Busy

if TYPE_CHECKING:
    from starlette.requests import Request

NAME = 200
"""Letters of a name that a client may choose."""

LINES = "application/x-ndjson"
_STATUS = ((Busy, 429), (CapacityError, 413), (MissingExtraError, 501))


def status_of(error: MapdagError) -> int:
    """Return the status that tells what kind of error it is."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 422)


def refusal(status: int, sentence: str, **facts: Any) -> Response:
    """Make an answer that says what is wrong."""
    return Response(to_text({"error": sentence, **facts}), status, media_type="application/json")


def to_text(value: Any) -> bytes:
    """Write JSON; halves of characters, which names may have, are escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "backslashreplace")


async def read_json(request: Request) -> Mapping[str, Any]:
    """Read the object that a request sends."""
    body = await request.body()
    try:
        found = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused(400, "the request is not JSON") from None
    if not isinstance(found, dict):
        raise Refused(400, "the request must be an object")
    return found


def _no_constant(text: str) -> Any:
    raise ValueError(text)


def tab_of(asked: Mapping[str, Any]) -> str:
    """Return which tab asks."""
    found = asked.get("tab", "")
    if not isinstance(found, str) or len(found) > NAME:
        raise ParameterError("tab must be a short text")
    return found


def whole_of(asked: Mapping[str, Any], name: str, usual: int) -> int:
    """Return a whole number that a request sends."""
    found = asked.get(name, usual)
    if isinstance(found, float) and found.is_integer():
        found = int(found)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 2**53:
        raise ParameterError(f"{name} must be a whole number of at least 0, got {str(found)[:80]!r}")
    return found


def internal(error: Exception) -> str:
    """Say that something went wrong that should not."""
    return f"internal error, please report it: {type(error).__name__}: {error}"
