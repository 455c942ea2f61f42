"""Several prompts or checkpoints in one call: a run each."""
