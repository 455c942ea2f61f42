"""A client of servers with the OpenAI API, for completions and for judges."""
