"""A Model Context Protocol server: assistants play games that people can watch and join in a browser."""
