"""Subcommands of ``helsinki``; see `helsinki_env.cli.main`. They may import players, which are in a higher layer."""
