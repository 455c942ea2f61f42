"""Evaluation while a model trains, by the code of `rewardkit eval`."""
