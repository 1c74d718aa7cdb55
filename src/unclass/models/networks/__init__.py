"""The networks that we know by name."""
