"""Game records of any game: reading, validation, replay, and output as text, animation or page."""
