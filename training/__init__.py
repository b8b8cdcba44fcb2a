"""Learning to play Helsinki: networks, self-play and the evaluation of what was learned."""
