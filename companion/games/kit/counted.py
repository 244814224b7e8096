"""The temple as a counter of a game's own: who gave how many tokens to which god, with the moves that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from companion.games.kit.log import Line
from companion.games.kit.moves import TEMPLE, Move, Refusal, Seat
from companion.games.kit.parts import TempleRules
from companion.games.kit.table import Kind, MoveType, one_of, printable, text
from companion.games.kit.temple import LEFT_TO_RIGHT, TokenAudit, TokenDrop, UnclaimedToken

S = TypeVar("S")

OVER = "over"
"""The doubt about a token that fell after the end."""

_GOD: Mapping[str, Kind] = {"god": one_of(*LEFT_TO_RIGHT)}


class Fallen(Struct, frozen=True):
    """A token that fell: its id and god, whose turn it was, and why it waits or waited for a person."""

    id: str
    """The token's own; empty for one that was given by a tap."""
    god: str
    """Its slot, one of `LEFT_TO_RIGHT`."""
    seat: Seat
    """For whom it counts: whose turn it was, or who claimed it."""
    doubt: str = ""
    """Why it waits or waited, as in `TokenDrop`."""
    claimed: bool = False
    """Whether a person said whose it is: then its temple can no longer doubt it."""
    acted: bool = False
    """Whether it has done what a token of its game does."""


class Tokens(Struct, frozen=True):
    """The tokens of a game: those that count, those that wait for a person, and those that were none.

    One that was given by a tap counts without an id.

    >>> tokens = Tokens(counted=(Fallen("a1", "tlaloc", "red"), Fallen("b2", "huitzilopochtli", "blue")))
    >>> tokens.count(), tokens.count("tlaloc"), tokens.count(seat="blue")
    (2, 1, 1)
    """

    counted: tuple[Fallen, ...] = ()
    """Those that count, in the order in which they fell."""
    waiting: tuple[Fallen, ...] = ()
    """Those that wait for a person."""
    dismissed: tuple[Fallen, ...] = ()
    """Those that were none."""

    def count(self, god: str = "", seat: Seat = "") -> int:
        """Return how many tokens count: all, or those of one god, of one seat, or both."""
        return sum(god in ("", each.god) and seat in ("", each.seat) for each in self.counted)


class TokenCount(Struct, Generic[S], frozen=True):
    """Counts a temple's tokens in a state with the fields ``seats`` and ``tokens``, the latter a `Tokens`.

    A token counts for the seat whose turn it is. One that is doubted waits, and any seat may say whose it was, or
    that it was none. A game takes its parts: `moves` into its table, `settling` as `Rules.anytime`, `temple` as
    `Game.temple`, `lines` into its log. The app has the words for all of them.

    What a token has done stays when its temple doubts it afterwards.
    """

    on_turn: Callable[[S], Seat | None]
    """The seat for which a token counts now, or None when the game is over."""
    acts: Callable[[S, Fallen], S] | None = None
    """The state after a token, from one in which it counts, and the token with its god and seat.

    It acts once, whether it counts at once or is claimed later, and never when the game is over.
    """

    @property
    def moves(self) -> tuple[MoveType[S], ...]:
        """The rows for the table of moves."""
        token = {"token": text("[0-9A-Za-z][0-9A-Za-z_-]{0,63}", "a token's id", "bad_token")}
        reason = {"doubt": text("([a-z][a-z0-9_]{0,31})?", "a reason", "bad_doubt")}
        return (
            MoveType("token", self._fall, {**token, **_GOD, **reason}, TEMPLE),
            MoveType("doubt", self._doubt, {**token, **reason}, TEMPLE),
            MoveType(
                "claim", self._claim, {**token, "seat": text("[a-z0-9_]{1,40}", "seat", "unknown_seat")}, chore=True
            ),
            MoveType("dismiss", self._dismiss, token, chore=True),
        )

    def tap(self, then: Callable[[S], S] | None = None) -> MoveType[S]:
        """Return the row ``give``: the seat on turn gives a token without a temple, and then perhaps ends its turn.

        It is listed like any move, ``GIVE.all()``, so app players and the lab give tokens too. The app has its words.
        """

        def give(state: S, god: str) -> S:
            after = self._counted(state, Fallen("", god, self.on_turn(state) or ""))
            return after if then is None or self.on_turn(after) is None else then(after)

        return MoveType("give", give, _GOD, token=True)

    @property
    def temple(self) -> TempleRules[S]:
        """What the game does with a temple's tokens."""
        return TempleRules(drop=self._dropped, audit=self._audit, doubted=self._doubted)

    def settling(self, state: S) -> list[Move]:
        """Return the moves that settle tokens that wait, which any seat may make."""
        return [
            move
            for token in _of(state).waiting
            for move in (Move("dismiss", (token.id,)), *(Move("claim", (token.id, each)) for each in _seats(state)))
        ]

    def lines(self, before: S, seat: Seat, move: Move) -> list[Line]:
        """Return what a move did with a token, for the log; nothing for any other move."""
        here = _of(before)
        match move:
            case Move("token", (_, god, doubt)):
                whose = self.on_turn(before)
                code, facts = ("token_waits", {}) if doubt or whose is None else ("token_fell", {"seat": whose})
            case Move("give", (god,)):
                code, facts = "token_fell", {"seat": seat}
            case Move("doubt", (token, _)) if found := _found(here.counted, str(token)):
                god, code, facts = found.god, "token_doubted", {}
            case Move("claim", (token, whose)) if found := _found(here.waiting, str(token)):
                god, code, facts = found.god, "token_claimed", {"seat": str(whose), "by": seat}
            case Move("dismiss", (token,)) if found := _found(here.waiting, str(token)):
                god, code, facts = found.god, "token_dismissed", {"by": seat}
            case _:
                return []
        return [Line(code, {**facts, "god": god, "n": 1}, str(god), adds="n")]

    def _fall(self, state: S, token: str, god: str, doubt: str) -> S | Refusal:
        here, seat = _of(state), self.on_turn(state)
        if any(each.id == token for each in (*here.counted, *here.waiting, *here.dismissed)):
            return Refusal("known_token", {"token": token})
        if why := doubt or ("" if seat else OVER):
            return _with(state, replace(here, waiting=(*here.waiting, Fallen(token, god, seat or "", why))))
        return self._counted(state, Fallen(token, god, seat or ""))

    def _counted(self, state: S, token: Fallen) -> S:
        """Return the state in which a token counts, after it has acted if it is to."""
        here = _of(state)
        after = _with(state, replace(here, counted=(*here.counted, token)))
        if self.acts is None or token.acted or self.on_turn(after) is None:
            return after
        token = replace(token, acted=True)
        return self.acts(_with(state, replace(here, counted=(*here.counted, token))), token)

    def _doubt(self, state: S, token: str, doubt: str) -> S | Refusal:
        here, found = _of(state), _found(_of(state).counted, token)
        if found is None or found.claimed:
            return Refusal("unknown_token", {"token": printable(token)})
        waiting = (*here.waiting, replace(found, doubt=doubt))
        return _with(state, replace(here, counted=_without(here.counted, found), waiting=waiting))

    def _claim(self, state: S, token: str, seat: Seat) -> S | Refusal:
        here, found = _of(state), _found(_of(state).waiting, token)
        if found is None:
            return Refusal("unknown_token", {"token": printable(token)})
        if seat not in _seats(state):
            return Refusal("unknown_seat", {"seat": printable(seat)})
        without = _with(state, replace(here, waiting=_without(here.waiting, found)))
        return self._counted(without, replace(found, seat=seat, claimed=True))

    def _dismiss(self, state: S, token: str) -> S | Refusal:
        here, found = _of(state), _found(_of(state).waiting, token)
        if found is None:
            return Refusal("unknown_token", {"token": printable(token)})
        return _with(state, replace(here, waiting=_without(here.waiting, found), dismissed=(*here.dismissed, found)))

    def _dropped(self, state: S, drop: TokenDrop) -> Move:
        return Move("token", (drop.id, drop.god, drop.doubt))

    def _doubted(self, state: S, drop: TokenDrop) -> Move | None:
        found = _found(_of(state).counted, drop.id)
        return Move("doubt", (drop.id, drop.doubt)) if found and not found.claimed else None

    def _audit(self, state: S) -> TokenAudit:
        here = _of(state)
        return TokenAudit(
            counted=frozenset(each.id for each in here.counted if each.id),
            dismissed=frozenset(each.id for each in here.dismissed),
            waiting=tuple(_asked(state, each) for each in here.waiting),
            credited={god: here.count(god) for god in LEFT_TO_RIGHT},
        )


def _asked(state: Any, token: Fallen) -> UnclaimedToken:
    seats = sorted(_seats(state), key=lambda seat: seat != token.seat)
    claims = {seat: Move("claim", (token.id, seat)) for seat in seats}
    return UnclaimedToken(token.id, token.god, token.doubt, claims, Move("dismiss", (token.id,)), token.seat or None)


def _of(state: Any) -> Tokens:
    tokens: Tokens = state.tokens
    return tokens


def _seats(state: Any) -> tuple[Seat, ...]:
    seats: tuple[Seat, ...] = state.seats
    return seats


def _with(state: S, tokens: Tokens) -> S:
    changed: S = replace(state, tokens=tokens)  # type: ignore[type-var]
    return changed


def _found(tokens: Sequence[Fallen], token: str) -> Fallen | None:
    return next((each for each in tokens if each.id == token), None)


def _without(tokens: tuple[Fallen, ...], token: Fallen) -> tuple[Fallen, ...]:
    return tuple(each for each in tokens if each is not token)
