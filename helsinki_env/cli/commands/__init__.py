"""Subcommands of ``helsinki``; see `helsinki_env.cli.main`. They may import players and training."""
