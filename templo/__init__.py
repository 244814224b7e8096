"""What the controller and the companion share. It imports neither of them."""

__version__ = "0.1.0"
