"""The board game Helsinki as an environment for reinforcement learning, bots and studies of balance."""
