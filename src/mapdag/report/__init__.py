"""Pages of HTML that stand alone: the report of a learned graph, of a comparison, and of a simulation study.

`write_result`, `write_comparison` and `study.write_study` are the front doors. Others are made from the same pieces:

>>> from mapdag.report.page import Section, page
>>> from mapdag.report.parts import Heading, how_it_was_made, number, table
>>> columns = [Heading("network"), Heading("SHD", "number")]
>>> listed = table(columns, [["alarm", number(22)]], key="shd-table", caption="Distances to the truth")
>>> text = page("Study", [Section("shd", "Distances", listed), how_it_was_made("mapdag study report --html")])
>>> text.count("<section")
2

`parts.picture` takes the SVG of a figure, `viewer.viewer` a drawing to explore, `page.write_page` writes the file.
"""

from mapdag.report.comparison import comparison_page, write_comparison
from mapdag.report.learned import result_page, write_result
from mapdag.report.page import PAGE_SUFFIXES

__all__ = ["PAGE_SUFFIXES", "comparison_page", "result_page", "write_comparison", "write_result"]
