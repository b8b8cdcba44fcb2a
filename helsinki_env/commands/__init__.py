"""Subcommands of ``helsinki``; see `helsinki_env.cli`. They may import players, which are in a higher layer."""
