"""The machine's network: its addresses and names, its Wi-Fi, and the certificates of its pages."""
