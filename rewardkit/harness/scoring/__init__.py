"""Judging completions that exist already: streamed, on all cores, resumable."""
