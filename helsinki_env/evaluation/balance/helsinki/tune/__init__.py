"""Search for a balanced board: the smallest change of the action board's numbers that leaves no outliers."""
