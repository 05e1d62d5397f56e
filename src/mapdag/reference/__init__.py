"""The reference networks of the literature, ready to use.

`network` loads one by name, `catalogue` says what there is and whom to cite. The files are in `data`, where a note
says where they come from.
"""

from __future__ import annotations

from mapdag.reference.catalogue import Entry, catalogue
from mapdag.reference.library import network

__all__ = ["Entry", "catalogue", "network"]
