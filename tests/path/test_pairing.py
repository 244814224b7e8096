"""A new temple, from the organiser's code to a token at its table: broker, companion and controller as programs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode

from controller.app import settings as controller_settings
from tests.appliance.installation import Installation
from tests.brokers import HOST, free_port, mosquitto
from tests.controller.program import ROOT, Temple, call, environment
from tests.waiting import eventually


class Page:
    """An organiser's browser, as far as the companion can see."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie = ""

    def post(self, path: str, **form: str) -> tuple[int, str, str]:
        return self._ask("POST", path, urlencode(form))

    def get(self, path: str) -> str:
        return self._ask("GET", path)[1]

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str, str]:
        connection = HTTPConnection(HOST, self.port, timeout=120)
        try:
            headers = {"Origin": f"http://{HOST}:{self.port}", "Cookie": self.cookie}
            headers |= {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            self.cookie = (answer.getheader("Set-Cookie") or self.cookie).partition(";")[0]
            return answer.status, answer.read().decode(), answer.getheader("Location") or ""
        finally:
            connection.close()


@contextmanager
def companion(folder: Path, installation: Installation, broker: int) -> Iterator[Page]:
    port = free_port()
    words = ["--host", HOST, "--port", str(port), "--broker", f"{HOST}:{broker}", "--state", str(folder)]
    words += ["--set", f"pairing.folder={installation.access / 'pairing'}"]
    variables = {
        "TEMPLO_BROKER_USER": "companion",
        "TEMPLO_BROKER_PASSWORD": installation.password("companion"),
    }
    with (
        (folder.parent / "companion.log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-m", "companion", "run", *words, "--instance", "a" * 32],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment(**variables),
        ) as program,
    ):
        try:
            assert program.stdout
            assert program.stdout.readline().startswith("ready")
            yield Page(port)
        finally:
            program.kill()


def test_a_new_temple_is_paired_and_its_tokens_count_at_its_table(tmp_path: Path) -> None:
    """The broker is ours, with its access list; the temple gets its own user and nothing else's."""
    installation = Installation(tmp_path / "installation")
    installation.folder.mkdir()
    done = installation.run("--temple", "templo", "--pair", "attic")
    assert done.returncode == 0, done.stderr
    with ExitStack() as running:
        broker = running.enter_context(mosquitto(tmp_path, config=installation.config()))
        page = running.enter_context(companion(tmp_path / "state", installation, broker.port))
        organiser = (tmp_path / "state" / "organiser-code").read_text().split()[0]
        status, _, invited = page.post(
            "/tables", game="mexica", title="Sunday", players="2", preset="temple_only", temple=""
        )
        assert status == 303
        seat = Page(page.port)
        found = re.search(r'action="/t/(\w{32})/', seat.get(invited))
        assert found
        table = found[1]
        assert seat.post(f"/t/{table}/share", code=invited.rpartition("/")[2])[0] == 303
        assert seat.post(f"/t/{table}/begin")[0] == 303
        assert page.post("/organiser/code", code=organiser)[0] == 303
        shown = page.post("/organiser/pairing", temple="attic", table=table)[1]
        found = re.search(r"templo-controller pair \S+ (\w{4}-\w{4}-\w{4})", shown)
        assert found
        address, code = f"{HOST}:{page.port}", found[1]
        file = tmp_path / "controller.toml"
        wrong = call("pair", address, "ABCD-EFGH-JKLM", "--config", str(file))
        assert (wrong.returncode, file.exists()) == (1, False)
        assert "That is not the code of a temple" in wrong.stderr
        paired = call("pair", address, code, "--config", str(file))
        assert paired.returncode == 0, paired.stderr
        assert "serves the table 'Sunday'" in paired.stdout
        again = call("pair", address, code, "--config", str(file))
        assert "has been used already" in again.stderr

        settings = controller_settings.load(file=file, environ={}, flags={}, home=tmp_path)
        assert settings.broker.user == "temple-attic"
        assert settings.broker.password == installation.password("temple-attic")
        temple = Temple(tmp_path / "temple", settings.broker.host, "--config", str(file)).start()
        running.callback(temple.kill)
        temple.drop("tlaloc", 3)
        eventually(lambda: temple.report()["waiting"] == 0)
        entries = json.loads(page.get(f"/t/{table}/export.json"))["entries"]
        assert sum("token" in json.dumps(each) for each in entries) == 3
