"""Engines that turn prompts into completions: one file an engine."""
