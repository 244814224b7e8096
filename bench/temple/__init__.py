"""A token's way from the beam, beside mqtt-io's: how long it takes, what is lost, and what rest costs."""
