"""From verdicts to figures with intervals."""
