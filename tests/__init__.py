"""The tests, as a package: its helpers are imported as `tests.support`."""
