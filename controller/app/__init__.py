"""Where the controller is put together: settings, daemon and command line."""
