"""Engines that turn prompts into completions, one file or package each."""
