"""How texts are read and shown: thinking, transcripts, secrets, control characters."""
