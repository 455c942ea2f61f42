"""The vLLM backend: completions from vLLM's offline engine, in one process or several."""
