"""What came out: summaries of `unclass paper`, made, read, and those of the reference runs that the package brings."""

from unclass.paper.results.reference import Measured, measured, reference_summaries
from unclass.paper.results.summary import make_summary, read_summary

__all__ = ["Measured", "make_summary", "measured", "read_summary", "reference_summaries"]
