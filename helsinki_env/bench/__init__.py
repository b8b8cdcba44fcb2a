"""Speed benchmark of the environments, the measurements of ``helsinki bench``."""
