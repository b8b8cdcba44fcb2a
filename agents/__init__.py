"""The players of helsinki-env and their common interface. A player sees only the observation of its seat."""
