"""``python -m helsinki_env`` runs the command line, for environments whose scripts are not on the search path."""

import sys

from helsinki_env.cli.program import main

sys.exit(main())
