"""Which wire goes where, as a table, a harness and a circuit, all from `controller/app/pins.toml`."""
