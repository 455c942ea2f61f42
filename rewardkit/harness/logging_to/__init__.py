"""A run's figures, told to the tools that people watch trainings with."""
