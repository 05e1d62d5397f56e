"""The command and the lines of Python that give a graph of the page again, exactly."""

from __future__ import annotations

import csv
import io
import json
import shlex
from typing import TYPE_CHECKING, Any

from mapdag.errors import Setting, flag_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mapdag.explorer.library import Source
    from mapdag.explorer.settings import Arc, Settings

_END = "MAPDAG"  # ends a text within a command, unless it has such a line itself


def command_lines(source: Source, settings: Settings, search: str) -> str:
    """Write commands for a shell.

    Parameters
    ----------
    source : Source
        Where the table comes from.
    settings : Settings
    search : str
        The search that has found the graph.
    """
    lines, flags = [], []
    for flag, name, content in _files(source, settings):
        end = _end_of(content)
        lines += [f"cat > {name} <<'{end}'", content.rstrip("\n"), end]
        flags.append(f"{flag} {name}")
    file = _file(source)
    if source.network is not None:
        lines.append(f"mapdag sample {source.network} --rows {source.rows} --seed {source.seed} --out {file}")
        flags.append(f"--like {source.network}")
    elif source.like is not None:
        flags.append(f"--like {shlex.quote(source.like)}")
    flags += [Setting(*item).flags() for item in source.options.items() if not _is_spelled_out(*item)]
    flags.append(f"--score {shlex.quote(str(settings.objective))}")
    flags += [f"{flag_of(name)} {value}" for name, value in _options(settings, search).items()]
    lines.append(" \\\n  ".join([f"mapdag learn {_argument(file)}", *flags]))
    return "\n".join(lines) + "\n"


def _end_of(content: str) -> str:
    """Return a line that ends a text, and is not within it: what comes after would be run."""
    number, lines = 1, set(content.split("\n"))
    end = _END
    while end in lines:
        number += 1
        end = f"{_END}{number}"
    return end


def python_lines(source: Source, settings: Settings, search: str) -> str:
    """Write lines of Python; the parameters are those of `command_lines`."""
    limits = {name: value for name, value in settings.limits.items() if value and name != "max_parents"}
    given = [_quoted(str(settings.objective))]
    given += [Setting(name, value).code() for name, value in _options(settings, search).items()]
    given += [Setting(name, _listed(value)).code() for name, value in limits.items()]
    lines = ["import mapdag as md", "", f"data = {_table(source)}", "result = md.learn(", "    data,"]
    return "\n".join([*lines, *(f"    {each}," for each in given), ")", "print(result)"]) + "\n"


def _options(settings: Settings, search: str) -> dict[str, Any]:
    found: dict[str, Any] = {"search": search, "seed": settings.seed}
    return found if settings.max_parents is None else found | {"max_parents": settings.max_parents}


def _table(source: Source) -> str:
    if source.network is not None:
        return f"md.network({_quoted(source.network)}).sample({source.rows}, seed={source.seed})"
    given = [_quoted(_file(source)), *(Setting(*item).code() for item in source.options.items())]
    if source.like is not None:
        given.append(f"like={_network(source.like)}")
    return f"md.read({', '.join(given)})"


def _network(like: str) -> str:
    from mapdag.reference import catalogue

    bundled = like.lower() in {entry.name for entry in catalogue()}
    return f"md.network({_quoted(like)})" if bundled else f"md.read_network({_quoted(like)})"


def _file(source: Source) -> str:
    return f"{source.network}.csv" if source.network is not None else source.path or source.name


def _argument(file: str) -> str:
    return shlex.quote(f"./{file}" if file.startswith("-") else file)


def _files(source: Source, settings: Settings) -> list[tuple[str, str, str]]:
    """Return what a command takes from files: flag, name and content of each."""
    found = []
    for name in ("required", "forbidden"):
        arcs = getattr(settings, name)
        if arcs:
            found.append((flag_of(name), f"{name}.csv", _csv(arcs)))
    if settings.tiers:
        found.append(("--tiers", "tiers.json", json.dumps(settings.tiers, ensure_ascii=False)))
    levels = source.options.get("levels")
    if levels is not None and not isinstance(levels, str):
        found.append(("--levels", "levels.json", json.dumps(levels, ensure_ascii=False)))
    return found


def _is_spelled_out(name: str, value: Any) -> bool:
    return name == "levels" and not isinstance(value, str)


def _csv(arcs: Sequence[Arc]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows([("from", "to"), *arcs])
    return target.getvalue()


def _listed(value: Any) -> Any:
    """Return a constraint as lists and pairs."""
    return [list(each) if isinstance(each, list) else each for each in value]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
