"""Tasks defined by data: a TOML file, or options of the command line."""
