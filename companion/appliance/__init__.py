"""The command `templo-mayor` of the Debian package, and the programs that its units run."""
