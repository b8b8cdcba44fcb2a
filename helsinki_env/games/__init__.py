"""The games beside Helsinki, each in a folder of its own."""
