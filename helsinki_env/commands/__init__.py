"""What the command ``helsinki`` can do; see `helsinki_env.cli`. Commands use players, which stand above it."""
