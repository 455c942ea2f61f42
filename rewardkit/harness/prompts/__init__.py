"""Prompts: templates, strategies, a task's wording, few-shot examples."""
