"""The backends on a real kernel: Debian's, in QEMU, with the kernel's own GPIO simulator. `make kernel` runs it."""
