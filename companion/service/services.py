"""The services of one companion, composed for the routes, the MQTT intake and the commands."""

from __future__ import annotations

from msgspec import Struct

from companion.service.arrivals import TokenIntake
from companion.service.decisions import Decisions
from companion.service.doubts import DoubtIntake
from companion.service.ledgers import Ledgers
from companion.service.messages import MessageService
from companion.service.pairing import PairingService
from companion.service.play import PlayService
from companion.service.requests import TempleRequests
from companion.service.rounds import RoundService
from companion.service.seats import SeatService
from companion.service.serving import Serving
from companion.service.setup import SetupService
from companion.service.tables import TableService
from companion.service.temples import TempleService
from companion.service.waiting import Waiting
from companion.service.workspace import Workspace


class Services(Struct, frozen=True):
    """Everything that can be done with tables, temples, seats and moves."""

    tables: TableService
    temples: TempleService
    seats: SeatService
    play: PlayService
    setup: SetupService
    messages: MessageService
    rounds: RoundService
    pairing: PairingService

    @classmethod
    def over(cls, workspace: Workspace) -> Services:
        """Return the services over one workspace."""
        ledgers = Ledgers(workspace)
        requests = TempleRequests(workspace, ledgers)
        serving = Serving(workspace, requests)
        waiting = Waiting()
        intake, decisions = TokenIntake(workspace, ledgers, waiting), Decisions(workspace)
        doubts = DoubtIntake(workspace)
        temples = TempleService(workspace, ledgers, intake, doubts, requests, serving, decisions)
        workspace.on_taken.append(temples.take_over)
        return cls(
            TableService(workspace, serving),
            temples,
            SeatService(workspace, requests, waiting),
            PlayService(workspace),
            SetupService(workspace),
            MessageService(workspace),
            RoundService(workspace, serving),
            PairingService(workspace, temples),
        )
