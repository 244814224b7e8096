"""A club on one machine: PostgreSQL, brokers, companions, simulated temples, and a proxy with TLS in front."""
