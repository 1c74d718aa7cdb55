"""What comes in from outside: files that others made (how large, what they may not do), and arguments of callers."""
