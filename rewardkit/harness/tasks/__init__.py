"""Tasks: problems, their default prompt and the verifier of the replies."""
