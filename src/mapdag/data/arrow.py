"""Keeping the dictionaries of Arrow columns: they declare levels, and polars forgets those that no row uses.

An object that exports an Arrow stream is handed on to polars through `Tap`, which notes the dictionaries of the
columns as the chunks pass by. The structures are those of the Arrow C data and C stream interfaces.
"""

from __future__ import annotations

import ctypes
import itertools
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import Any

import numpy as np

from mapdag.data.labels import texts_of

__all__ = ["Tap"]

_CAPSULE = b"arrow_array_stream"


class _Schema(ctypes.Structure):
    """ArrowSchema."""


class _Array(ctypes.Structure):
    """ArrowArray."""


class _Stream(ctypes.Structure):
    """ArrowArrayStream."""


_Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_void_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(_Schema))),
    ("dictionary", POINTER(_Schema)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]
_Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(_Array))),
    ("dictionary", POINTER(_Array)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]
_GetSchema = ctypes.CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))
_GetNext = ctypes.CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))
_GetLastError = ctypes.CFUNCTYPE(c_void_p, POINTER(_Stream))  # c_char_p would hand out a copy that soon dies
_Release = ctypes.CFUNCTYPE(None, POINTER(_Stream))
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetNext),
    ("get_last_error", _GetLastError),
    ("release", _Release),
    ("private_data", c_void_p),
]

#: Arrow's format codes of the numeric types.
_NUMBERS = dict(zip("cCsSiIlLfg", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"], strict=True))


class Tap:
    """Pass an Arrow stream on unchanged, noting the dictionaries of its columns in `levels`.

    Parameters
    ----------
    source : object
        Anything with `__arrow_c_stream__`.
    """

    def __init__(self, source: Any) -> None:
        #: The declared levels, by position of the column.
        self.levels: dict[int, list[str]] = {}
        #: What went wrong while noting them: nothing can be raised through the callbacks.
        self.error: Exception | None = None
        self._formats: dict[int, str] = {}
        self._capsule = source.__arrow_c_stream__()  # owns the stream that is tapped
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = c_void_p, [ctypes.py_object, c_char_p]
        self._inner = ctypes.cast(pointer(self._capsule, _CAPSULE), POINTER(_Stream))
        # The callbacks live as long as this object; polars is done with them when its constructor returns.
        self._outer = _Stream(
            _GetSchema(self._get_schema),
            _GetNext(self._get_next),
            _GetLastError(lambda _: self._inner.contents.get_last_error(self._inner)),
            _Release(self._release),
            None,
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Export the stream (Arrow PyCapsule interface)."""
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
        return capsule(ctypes.addressof(self._outer), _CAPSULE, None)

    def _get_schema(self, _: Any, out: Any) -> int:
        status = int(self._inner.contents.get_schema(self._inner, out))
        if status == 0:
            schema = out.contents
            for position in range(schema.n_children):
                child = schema.children[position].contents
                if child.dictionary and not _is_pool(child.metadata):
                    self._formats[position] = child.dictionary.contents.format.decode()
        return status

    def _get_next(self, _: Any, out: Any) -> int:
        status = int(self._inner.contents.get_next(self._inner, out))
        if status == 0 and out.contents.release:
            try:
                self._note(out.contents)
            except Exception as error:  # noqa: BLE001
                self.error = error
        return status

    def _note(self, chunk: Any) -> None:
        for position, code in self._formats.items():
            values = _decode(chunk.children[position].contents.dictionary.contents, code)
            if values is not None:
                # Chunks may bring dictionaries of their own: levels are declared in order of appearance.
                self.levels[position] = list(dict.fromkeys([*self.levels.get(position, []), *values]))

    def _release(self, stream: Any) -> None:
        # The capsule releases the stream that is tapped; ours has nothing of its own.
        stream.contents.release = _Release()


def _is_pool(metadata: int | None) -> bool:
    """Tell a Categorical that polars exported, whose dictionary is no declaration, by the field's metadata."""
    if not metadata:
        return False
    pairs = int.from_bytes(ctypes.string_at(metadata, 4), "little")
    place = metadata + 4
    for _ in range(2 * pairs):
        size = int.from_bytes(ctypes.string_at(place, 4), "little")
        if ctypes.string_at(place + 4, size).startswith(b"_PL_CATEGORICAL"):
            return True
        place += 4 + size
    return False


def _decode(array: Any, code: str) -> list[str] | None:
    """Return the values of a dictionary as labels, or None for types that have no labels."""
    size, start = array.length, array.offset
    if not size:
        return []
    if code in _NUMBERS:
        values = texts_of(_buffer(array, 1, _NUMBERS[code], start, size))
    elif code == "b":
        bits = np.unpackbits(_buffer(array, 1, "u1", 0, (start + size + 7) // 8), bitorder="little")
        values = texts_of(bits[start : start + size].astype(bool))
    elif code in {"u", "U"}:
        ends = _buffer(array, 1, "i4" if code == "u" else "i8", start, size + 1).tolist()
        text = ctypes.string_at(array.buffers[2], ends[-1]) if ends[-1] else b""
        values = [text[low:high].decode() for low, high in itertools.pairwise(ends)]
    elif code == "vu":
        values = [_view(array, row) for row in range(start, start + size)]
    else:
        return None
    if not array.buffers[0]:
        return values
    valid = np.unpackbits(_buffer(array, 0, "u1", 0, (start + size + 7) // 8), bitorder="little")[start : start + size]
    return [value for value, flag in zip(values, valid, strict=True) if flag]


def _buffer(array: Any, which: int, dtype: str, start: int, size: int) -> Any:
    width = np.dtype(dtype).itemsize
    return np.frombuffer(ctypes.string_at(array.buffers[which] + start * width, size * width), dtype=dtype)


def _view(array: Any, row: int) -> str:
    """Read one value of a "string view" array: up to 12 bytes in place, longer ones in one of the data buffers."""
    view = ctypes.string_at(array.buffers[1] + 16 * row, 16)
    size = int.from_bytes(view[:4], "little")
    if size <= 12:
        return view[4 : 4 + size].decode()
    which, offset = int.from_bytes(view[8:12], "little"), int.from_bytes(view[12:], "little")
    return ctypes.string_at(array.buffers[2 + which] + offset, size).decode()
