"""The temple's daemon: it counts the tokens that break its two beams and publishes each exactly once."""
