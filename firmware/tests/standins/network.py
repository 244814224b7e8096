"""A stand-in for MicroPython's `network`: a Wi-Fi that is available unless a test removes it."""

STA_IF = 0
there = True


def country(code):
    """Take the country."""


class WLAN:
    """A radio."""

    def __init__(self, interface):
        """Begin switched off."""
        self._joined = False

    def active(self, on):
        """Switch it on."""

    def connect(self, ssid, password):
        """Join."""
        self._joined = True

    def disconnect(self):
        """Leave."""
        self._joined = False

    def isconnected(self):
        """Say whether it is joined."""
        return self._joined and there
