"""One file a verifier: each reads the answer, reads the reference, compares."""
