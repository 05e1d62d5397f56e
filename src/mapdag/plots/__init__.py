"""Pictures. The only importers of matplotlib, which is an extra: ``pip install "mapdag[plots]"``.

Functions take values and return figures; files are written by `figures.save`. Nothing is computed or learned here.
"""
