"""Which wire goes where, as a table, as a harness and as a circuit, all from `controller/app/pins.toml`."""
