"""Methods side by side: the plan, the runs, their audits, the rows of the table."""

from unclass.comparison.plan import Plan
from unclass.comparison.result import Comparison
from unclass.comparison.rows import Row, Spread, by_class, over_classes, summarise

__all__ = ["Comparison", "Plan", "Row", "Spread", "by_class", "over_classes", "summarise"]
