"""The paper's experiments as files, and what came out of them: summaries made, read, and those the package brings."""

from unclass.report.paper.summary import Summary, read_summary
from unclass.reproduction.reference import Measured, measured, reference_summaries
from unclass.reproduction.summary import make_summary

__all__ = ["Measured", "Summary", "make_summary", "measured", "read_summary", "reference_summaries"]
