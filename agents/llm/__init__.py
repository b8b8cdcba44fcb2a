"""Players that query language models through an OpenAI-compatible endpoint."""
