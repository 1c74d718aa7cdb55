"""Training: the one loop, resuming it, and several processes as one."""
