"""Environments for PettingZoo (`aec`), batched self-play (`vector`), and Gymnasium with one learning seat (`seat`)."""
