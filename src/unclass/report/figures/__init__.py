"""Figures for papers and pages: functions that return a matplotlib figure."""
