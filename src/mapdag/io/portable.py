"""Names and labels that other programs can read, for formats in which not every text can stand.

What a format, and the programs that read it, can hold is an `Alphabet`. Texts that fit stay as they are; others are
replaced by something readable, unlike all others: `(40,60]` by `gt_40_le_60`, `18.0` by `x18.0`, `größe` by `grosse`.
The originals go into the file as notes for ourselves (`mapdag.io.notes`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mapdag.io.notes import Note
from mapdag.notices import warn

if TYPE_CHECKING:
    from mapdag.networks import BayesianNetwork

_LONGEST = 60
_EDGE = r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|inf)"
_INTERVAL = re.compile(rf"([\[(])({_EDGE}),({_EDGE})([\])])")
_WORDS = {"<=": "le_", ">=": "ge_", "≤": "le_", "≥": "ge_", "<": "lt_", ">": "gt_", "%": "_percent", "&": "_and_"}
_SIGN = re.compile("|".join(_WORDS))
_PLUS = re.compile(r"(?<=\w)\+")
_MINUS = re.compile(r"(?<![A-Za-z0-9])-(?=[0-9.])")


@dataclass(frozen=True)
class Alphabet:
    """What names and labels a format can hold.

    Parameters
    ----------
    format : str
        What to call it.
    name, label : function
        Tell whether a text can stand as a name, or as a label.
    in_names, in_labels : str
        What may stand in them besides ASCII letters, digits and underscores, as in a regular expression; in those that
        do not fit, whatever else is replaced.
    fold : bool
        Whether names must differ in more than capitals, as some programs do not tell them apart.
    """

    format: str
    name: Callable[[str], object]
    label: Callable[[str], object]
    in_names: str = ".-"
    in_labels: str = ".-"
    fold: bool = True


@dataclass(frozen=True)
class Portable:
    """The names and labels that a file has for those of a network, and the notes about the originals."""

    names: dict[str, str]
    labels: dict[str, tuple[str, ...]]
    notes: tuple[Note, ...]


def portable(network: BayesianNetwork, alphabet: Alphabet) -> Portable:
    """Choose names and labels for a file, with a warning if any had to be changed.

    Examples
    --------
    >>> from mapdag import DAG, BayesianNetwork
    >>> from mapdag.io.bif_names import BIF
    >>> net = BayesianNetwork(DAG(["age"]), {"age": ["[0,40]", "(40,60]"]}, {"age": [0.5, 0.5]})
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     portable(net, BIF).labels
    {'age': ('ge_0_le_40', 'gt_40_le_60')}
    """
    key = str.lower if alphabet.fold else str
    chosen = _chosen(network.nodes, alphabet.name, alphabet.in_names, "node", key)
    names = dict(zip(network.nodes, chosen, strict=True))
    labels, notes, changed = {}, [], [pair for pair in names.items() if pair[0] != pair[1]]
    for node in network.nodes:
        before = network.levels[node]
        after = labels[node] = _chosen(before, alphabet.label, alphabet.in_labels, "level", str)
        renamed = {new: old for new, old in zip(after, before, strict=True) if new != old}
        changed += [(old, new) for new, old in renamed.items()]
        note = Note(names[node], node if names[node] != node else None, renamed, network.codings.get(node))
        if note.says_something:
            notes.append(note)
    if changed:
        shown = ", ".join(f"{old!r} became {new}" for old, new in changed[:3])
        more = f", and so on ({len(changed):,} in all)" if len(changed) > 3 else ""
        warn(
            f"other programs cannot read some names and labels in {alphabet.format}: {shown}{more}; mapdag reads the "
            "originals back, from comments in the file"
        )
    return Portable(names, labels, tuple(notes))


def _chosen(
    texts: Sequence[str], fits: Callable[[str], object], inside: str, what: str, key: Callable[[str], str]
) -> tuple[str, ...]:
    """Return a text that fits for each, no two of them with the same key; those that fit keep their own."""
    chosen: dict[str, str] = {}
    taken: set[str] = set()
    tried: Counter[str] = Counter()
    for text in texts:
        if fits(text) and key(text) not in taken:
            chosen[text] = text
            taken.add(key(text))
    for position, text in enumerate(texts):
        if text not in chosen:
            stem = next(filter(fits, _candidates(text, inside, f"{what}{position + 1}")))
            mine = stem
            while key(mine) in taken:
                tried[stem] += 1
                mine = f"{stem}_{tried[stem] + 1}"
            chosen[text] = mine
            taken.add(key(mine))
    return tuple(chosen[text] for text in texts)


def _candidates(text: str, inside: str, last: str) -> Iterator[str]:
    """Yield texts to stand for another, the most readable first."""
    plain = _plain(text, inside)
    if plain:
        yield plain
        yield f"x{plain}"
        yield f"{plain}_"
        yield re.sub(r"[.+-]", "_", plain)  # some programs take what follows a word of theirs for a number
        yield re.sub(r"(?<=[A-Za-z])(?=\d)", "_", plain)
    yield last


def _plain(text: str, inside: str) -> str:
    """Write a text with ASCII letters, digits, underscores and what may stand inside.

    >>> [_plain(text, ".-") for text in ("(-inf,2.5]", "[0,40]", "größe in cm", ">= 50 %", "65+", "年")]
    ['le_2.5', 'ge_0_le_40', 'grosse_in_cm', 'ge_50_percent', '65_plus', '']
    >>> _plain("(-2.5,0]", "")
    'gt_minus2_5_le_0'
    """
    interval = _INTERVAL.fullmatch(text)
    if interval is not None:
        opening, low, high, closing = interval.groups()
        lower = "" if low == "-inf" else f"{'ge' if opening == '[' else 'gt'}_{low}"
        upper = "" if high == "inf" else f"{'le' if closing == ']' else 'lt'}_{high}"
        text = "_".join(filter(None, (lower, upper)))
    text = _SIGN.sub(lambda found: _WORDS[found.group()], text)
    if "-" not in inside:
        text = _MINUS.sub("minus", text)
    text = _PLUS.sub("_plus", text).replace("ß", "ss")
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    text = re.sub(rf"[^A-Za-z0-9_{inside}]+", "_", text)
    return re.sub(r"_+", "_", text).strip("_")[:_LONGEST]
