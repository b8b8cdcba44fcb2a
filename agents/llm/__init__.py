"""Players that are language models behind an OpenAI-compatible endpoint."""
