"""Ratings from results: a ranking model, intervals that account for shared deals, sequential tests, a report.

This package knows no game rules: a result is a seating and an order of finish. Ratings require SciPy, which the modules
import on use. Sequential tests do not, because training depends on them.
"""
