"""The gauntlet: rate any player against fixed opponents on fixed deals, with one number on a fixed scale."""
