"""Environments: PettingZoo (`aec`), self-play batches (`vector`), one learning seat for Gymnasium (`seat`)."""
