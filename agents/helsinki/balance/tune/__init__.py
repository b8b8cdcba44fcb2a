"""A board put in balance: the smallest change of the action board's numbers after which no action stands out."""
