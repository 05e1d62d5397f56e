"""What tests of `scan` share: limits made so small that few rows make many blocks."""

from __future__ import annotations

from contextlib import contextmanager
from unittest.mock import patch

from mapdag.data import content
from mapdag.data.packed import packing, readers, recoding, store


@contextmanager
def blocks_of(rows, *, read=2**22, whole=True):
    """Make blocks of so many rows, read so many bytes at a time; decide by counts alone unless `whole`."""
    with (
        patch.object(readers, "BLOCK_ROWS", rows),
        patch.object(packing, "BLOCK_ROWS", rows),
        patch.object(store, "BLOCK_ROWS", rows),
        patch.object(content, "READ", read),
        patch.object(recoding, "READ_ROWS", 2**20 if whole else 0),
    ):
        yield


def same(scanned, data):
    """Tell whether a scanned table is this one: names, levels, codes, and what they stand for."""
    found = scanned.to_dataset()
    return found == data and dict(found.codings) == dict(data.codings) and found.codes.dtype == data.codes.dtype
