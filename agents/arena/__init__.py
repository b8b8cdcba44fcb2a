"""The arena: tournaments of many players that can be broken off, resumed, and spread over processes and machines."""
