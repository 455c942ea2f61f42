"""Offline evaluation: generate, judge, write, sum up."""
