"""What to do about a table that cannot be read as it is: the advice of `mapdag.check`, as buttons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mapdag.data import check
from mapdag.errors import SHOWN_ITEMS, DataError, MapdagError, Setting, texts_of

_LISTS = ("drop", "missing", "missing_values", "discretize", "lump")
_TEXTS = ("weights", "weighting", "groups", "separator", "encoding")
_CHECKED = ("levels", "weights", "weighting", "groups", "drop", "missing_values", "separator", "encoding")


class Unreadable(DataError):  # noqa: N818 - what it is
    """A table that cannot be read as it is, and what to do about it.

    Parameters
    ----------
    error : MapdagError
    advice : list of {"text", "option"}
    """

    def __init__(self, error: MapdagError, advice: list[dict[str, Any]]) -> None:
        super().__init__(*error.parts)
        self.advice = advice


def advice_on(content: bytes, options: Mapping[str, Any], error: MapdagError) -> list[dict[str, Any]]:
    """Say what would help: each way out that the error names, and what `mapdag.check` would do about everything."""
    ways: list[tuple[Setting, ...]] = [(setting,) for setting in error.settings if _can_send(setting)]
    remedy = tuple(each for each in getattr(error, "remedy", ()) if _can_send(each))
    if len(remedy) > 1:
        ways.insert(0, remedy)
    try:
        found = check(content, **{name: value for name, value in options.items() if name in _CHECKED})
    except MapdagError:
        found = None
    if found is not None and not found.problems:
        every = tuple(Setting(name, value) for name, value in found.options.items() if _can_send(Setting(name, value)))
        if every and every not in ways:
            ways.insert(0, every)
    return [{"text": ", ".join(map(str, way)), "option": _sent(way, options)} for way in dict.fromkeys(map(_key, ways))]


class _Way(tuple[Setting, ...]):
    """Settings that belong together, known by what they say."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(map(str, self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and tuple(map(str, self)) == tuple(map(str, other))


def _key(way: tuple[Setting, ...]) -> _Way:
    return _Way(way)


def _can_send(setting: Setting) -> bool:
    return setting.option in (*_LISTS, *_TEXTS, "max_levels", "codes")


def _sent(way: tuple[Setting, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a way out as the page repeats them: texts, or lists of texts."""
    found: dict[str, Any] = {}
    for setting in way:
        found[setting.option] = query_of(setting.option, setting.value)
        if setting.option == "drop":  # those that were left out before stay out
            before = query_of("drop", list(options.get("drop", ())))
            found["drop"] = list(dict.fromkeys([*before, *found["drop"]]))
    return found


def query_of(option: str, value: Any) -> Any:
    """Write the value of an option as the page sends it: a text, or a list of texts.

    >>> query_of("discretize", {"*": "quantile", "age": [18, 65]})
    ['quantile', 'age=18,65']
    """
    texts = texts_of(option, value)
    if option in _LISTS:
        return texts
    return ("true" if value else "false") if option == "codes" else texts[0]


def options_of(query: Mapping[str, list[str]]) -> dict[str, Any]:
    """Read the options of `mapdag.read` from what the page sends.

    >>> options_of({"missing_values": query_of("missing_values", {"smoke": ["9"], "*": ["a=b", "?"]})})
    {'missing_values': {'smoke': ['9'], '*': ['a=b', '?']}}
    >>> options_of({"drop": ["id"], "discretize": ["quantile", "age=18,65"], "missing": ["drop"]})
    {'drop': ['id'], 'missing': 'drop', 'discretize': {'*': 'quantile', 'age': [18.0, 65.0]}}
    """
    found: dict[str, Any] = {}
    from mapdag.data.options import missing_from, policy_from, shares_from, ways_from

    if query.get("drop"):
        found["drop"] = list(query["drop"])
    if any(query.get("missing", ())):
        found["missing"] = policy_from([text for text in query["missing"] if text])
    if query.get("missing_values"):
        found["missing_values"] = missing_from(query["missing_values"])
    for option, name in (*((each, each) for each in _TEXTS), ("sep", "separator")):
        if query.get(option) and query[option][-1]:
            found[name] = query[option][-1]
    if query.get("max_levels"):
        text = query["max_levels"][-1]
        if not text.isdecimal():
            raise DataError(f"max_levels must be a whole number, got {text[:SHOWN_ITEMS]!r}")
        found["max_levels"] = int(text)
    if query.get("codes"):
        found["codes"] = query["codes"][-1] == "true"
    if query.get("discretize"):
        found["discretize"] = ways_from(query["discretize"])
    if query.get("lump"):
        found["lump"] = shares_from(query["lump"])
    return found
