"""Training that never leaves the card: games, network and what is learnt from lie in tensors of one device."""
