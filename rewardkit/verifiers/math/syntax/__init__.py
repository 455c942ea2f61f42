"""Read an answer: LaTeX and plain text into a typed tree."""
