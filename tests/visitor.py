"""A phone that opens pages and sends forms, and keeps the cookies that it is given."""

from __future__ import annotations

import re
import time
from http.cookiejar import CookieJar
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

PATIENCE_S = 300.0
BUSY = 429
"""The status of a companion that was asked too often: it says when to ask again."""


class VisitError(OSError):
    """A page that was refused; the message says what the page says."""


class Visitor:
    """One phone. What it asks for raises `OSError` where nobody answers, or with an error."""

    def __init__(self, origin: str) -> None:
        """Visit what answers at an origin such as ``http://127.0.0.1:8080``."""
        self._origin = origin
        self.cookies = CookieJar()
        self._opener: OpenerDirector = build_opener(HTTPCookieProcessor(self.cookies))
        self.address = ""
        """Where the last answer came from, after every redirection."""

    def get(self, path: str) -> str:
        """Return a page."""
        return self._open(Request(self._origin + path))

    def post(self, path: str, **form: str) -> str:
        """Send a form; returns the page that it leads to."""
        return self._open(Request(self._origin + path, urlencode(form).encode(), {"Origin": self._origin}))

    def _open(self, request: Request) -> str:
        try:
            with self._opener.open(request, timeout=PATIENCE_S) as answer:
                self.address = answer.url
                return str(answer.read().decode())
        except HTTPError as error:
            if error.code == BUSY:
                time.sleep(float(error.headers["Retry-After"]))
                return self._open(request)
            problem = re.search(r'role="alert">(.*?)</p>', error.read().decode(errors="replace"), re.DOTALL)
            raise VisitError(f"{request.full_url}: {error}: {problem[1].strip() if problem else ''}") from None
