"""A stand-in for MicroPython's `network`: a Wi-Fi that is in reach unless a test removes it."""

STA_IF = 0
there = True
name_server = "0.0.0.0"


def country(code):
    """Take the country."""


class WLAN:
    """A radio."""

    PM_NONE = 0x10
    power_saving = True

    def __init__(self, interface):
        """Begin switched off."""
        self._joined = False

    def active(self, on):
        """Switch it on."""

    def config(self, pm):
        """Choose how power is saved."""
        WLAN.power_saving = pm != self.PM_NONE

    def ifconfig(self):
        """Return the addresses that the network gave: the last is the name server's."""
        return ("127.0.0.1", "255.0.0.0", "127.0.0.1", name_server)

    def connect(self, ssid, password):
        """Join."""
        self._joined = True

    def disconnect(self):
        """Leave."""
        self._joined = False

    def isconnected(self):
        """Return whether it is joined."""
        return self._joined and there
