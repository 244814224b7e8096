"""A supervised companion that cannot open its store says why on its page, and starts as soon as it can."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from tests.brokers import HOST, free_port
from tests.controller.program import ROOT, environment
from tests.liveness.conftest import PATIENCE_S, Bench, Watched
from tests.waiting import eventually


def words(bench: Bench, port: int) -> list[str]:
    link = ["--broker", f"{HOST}:{bench.broker.port}", "--state", str(bench.state("companion"))]
    return ["-m", "companion", "run", "--host", HOST, "--port", str(port), *link]


def answer(port: int, path: str, language: str = "en") -> tuple[int, str]:
    request = urllib.request.Request(f"http://{HOST}:{port}{path}", headers={"Accept-Language": language})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as found:
            return found.status, found.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def spoiled(bench: Bench) -> Path:
    """Put something that is no database where the store should be."""
    store = bench.state("companion") / "companion.sqlite"
    store.parent.mkdir()
    store.write_text("<this is no database>" * 100)
    return store


def test_a_store_that_cannot_be_opened_is_named_on_the_page_until_it_can(bench: Bench, tmp_path: Path) -> None:
    store, port = spoiled(bench), free_port()
    companion = Watched(tmp_path, "companion", words(bench, port))
    bench.watched.append(companion)
    companion.ready()
    eventually(lambda: answer(port, "/")[0] == 503)
    status, page = answer(port, "/t/anything")
    assert status == 503
    assert "The app cannot start" in page
    assert "file is not a database" in page
    assert "La aplicación no puede arrancar" in answer(port, "/", "es")[1]
    assert companion.feeds(3)
    store.unlink()
    eventually(lambda: answer(port, "/")[0] == 200)
    assert companion.log().count("cannot start") == 1
    companion.process.terminate()
    assert companion.process.wait(PATIENCE_S) == 0


def test_it_ends_in_order_while_it_cannot_start(bench: Bench, tmp_path: Path) -> None:
    spoiled(bench)
    companion = Watched(tmp_path, "companion", words(bench, free_port()))
    bench.watched.append(companion)
    companion.ready()
    companion.process.terminate()
    assert companion.process.wait(PATIENCE_S) == 0


def test_a_person_who_starts_it_reads_at_once_what_is_wrong(bench: Bench) -> None:
    spoiled(bench)
    done = subprocess.run(
        [sys.executable, *words(bench, free_port())],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "file is not a database" in done.stderr
