"""Judge completions that exist already: streamed, on all cores, resumable."""
