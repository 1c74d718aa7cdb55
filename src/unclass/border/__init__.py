"""What comes in from files that others made: how large it may be, what it may not do, pickles that are only read."""
