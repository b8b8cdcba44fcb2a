"""A server for the Model Context Protocol: assistants play at tables that people watch and share in a browser."""
