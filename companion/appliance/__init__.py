"""The command `templo-mayor` of the Debian package, and what its units run on the machine."""
