"""Pages of HTML that stand alone: the report of a learned graph, and of a comparison.

`write_result` and `write_comparison` are the front doors. Other reports are made from the same pieces: `page.page`,
`page.Section`, and `parts`.
"""

from mapdag.report.comparison import comparison_page, write_comparison
from mapdag.report.learned import result_page, write_result
from mapdag.report.page import PAGE_SUFFIXES

__all__ = ["PAGE_SUFFIXES", "comparison_page", "result_page", "write_comparison", "write_result"]
