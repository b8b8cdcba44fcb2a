"""Players of helsinki-env: what they have in common, and the players themselves. They see what a seat may see."""
