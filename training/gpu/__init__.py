"""Training with games, network and training data in the memory of a single device."""
