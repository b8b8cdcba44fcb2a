"""What several test modules need: built positions, policies, the observation restated, the comparison itself."""
