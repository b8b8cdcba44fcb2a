"""The players of helsinki-env and their common interface. A player sees only what its seat may see."""
