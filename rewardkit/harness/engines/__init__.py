"""Engines that turn prompts into completions. Each backend has a file."""
