"""The yardstick: anybody's player against fixed opponents on fixed decks, and one number on a fixed scale."""
