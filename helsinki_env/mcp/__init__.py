"""A server for the Model Context Protocol: assistants play at tables that people can watch and join in a browser."""
