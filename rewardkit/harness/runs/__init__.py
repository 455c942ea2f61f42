"""A run: options, plan, rendered tasks, generation, the judging thread, progress."""
