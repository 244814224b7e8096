"""On the board: a Wi-Fi that is always joined, for a plain Pico has none."""

STA_IF = 0


def country(code):
    """Take the country."""


class WLAN:
    """A radio."""

    PM_NONE = 0x10

    def __init__(self, interface):
        """Begin joined."""

    def active(self, on):
        """Switch it on."""

    def config(self, pm):
        """Choose how power is saved."""

    def ifconfig(self):
        """Return the addresses that the network gave."""
        return ("10.0.0.2", "255.0.0.0", "10.0.0.1", "10.0.0.1")

    def connect(self, ssid, password):
        """Join."""

    def disconnect(self):
        """Leave."""

    def isconnected(self):
        """Return whether it is joined."""
        return True
