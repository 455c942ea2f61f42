"""Compare two trees by meaning."""
