"""The security rules of a device on a home network, one by one, each with its tests.

`test_door.py`: allowed hosts only; same-origin writes with a seat's token; no state change on GET.
`test_pages.py`: `default-src 'self'`, no inline script, no style attribute; names as text; logs without secrets.
`test_secrets.py`: no debug mode, no default key, mode 0600; join codes; seat tokens.
`test_limits.py`: bodies and rates. `test_list.py`: `SECURITY.md`.

Tests of all routes take them from the application, so that a new route is tested too. `SECURITY.md` names what is
tested elsewhere: the broker's users and topics, the streams' places, bytes of any kind on the
wire, files of any content, the units' exposure.
"""
