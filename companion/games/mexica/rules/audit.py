"""What became of each token of a game, for the page that compares temple and ledger."""

from __future__ import annotations

from companion.games.kit import Move, TokenAudit, UnclaimedToken
from companion.games.mexica.rules.sacrifice import may_have_given
from companion.games.mexica.rules.state import State, Unclaimed
from companion.games.mexica.rules.tallies import GODS


def audit(state: State) -> TokenAudit:
    """Return what became of each token, and what counts beside them."""
    return TokenAudit(
        counted=frozenset(state.counted),
        dismissed=frozenset(state.dismissed),
        waiting=tuple(_waiting(state, token) for token in state.unclaimed),
        credited={god: sum(tally.credited.to(god) for tally in state.tallies) for god in GODS},
        corrected=tuple(
            (seat, god, delta)
            for seat, tally in zip(state.seats, state.tallies, strict=True)
            for god in GODS
            if (delta := tally.corrected.to(god))
        ),
    )


def _waiting(state: State, token: Unclaimed) -> UnclaimedToken:
    likeliest_first = sorted(state.seats, key=lambda seat: seat != token.suggested)
    claims = {seat: Move("claim", (token.id, seat)) for seat in likeliest_first if may_have_given(state, seat)}
    suggested = token.suggested if token.suggested in claims else None
    return UnclaimedToken(token.id, token.god, token.doubt, claims, Move("dismiss", (token.id,)), suggested)
