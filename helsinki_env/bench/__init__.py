"""Speed benchmark of the environments, as run by ``helsinki bench``."""
