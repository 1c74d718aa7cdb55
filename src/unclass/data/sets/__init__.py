"""The data sets that we know by name."""
