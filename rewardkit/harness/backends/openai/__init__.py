"""The openai backend: completions from any server that speaks the OpenAI API."""
