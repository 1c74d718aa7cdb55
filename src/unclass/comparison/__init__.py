"""Methods side by side: the plan, the runs, their audits, the rows of the table."""
