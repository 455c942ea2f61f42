"""Write runs in formats that other tools read."""
