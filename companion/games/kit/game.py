"""What a game is: the base of every game, whose methods are pure functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from companion.games.kit.chance import Below, Chance
from companion.games.kit.codec import encoded
from companion.games.kit.log import Line
from companion.games.kit.moves import Arg, Choice, Json, Move, Refusal, Seat, Value
from companion.games.kit.options import Option
from companion.games.kit.temple import TokenAudit, TokenDrop

S = TypeVar("S")


class Game(ABC, Generic[S]):
    """The rules of one game over its own frozen state `S`. Every method is a pure function of its arguments.

    A game's class names this one as its base; what has a body here need not be written by a game that has no use
    for it.
    """

    name: str
    """Its folder's name; a tool's is that of its game and its own: ``"market.score"``."""
    rules_version: int
    options: tuple[Option, ...]
    presets: Mapping[str, Mapping[str, Value]]
    seatings: Mapping[int, tuple[Seat, ...]]
    """For each number of players the seats they take, in turn order."""
    uses_temple: bool = False
    tools: Mapping[str, Game[Any]] = MappingProxyType({})
    """Small games with one seat, for use beside a real table, by their own names."""
    sheets: tuple[str, ...] = ()
    """The names of its pages for the printer, in the order in which a table wants them."""
    own_sheets: tuple[str, ...] = ()
    """The names of pages for the printer that show what a table has of its own, such as a map."""
    makes: str = ""
    """Of a tool: the key of the option of its game for which it makes a text, or none."""

    @abstractmethod
    def setup(self, options: Mapping[str, Value], seats: tuple[Seat, ...]) -> S:
        """Return the first state. The options are complete and each accepted by its `Option`."""

    @abstractmethod
    def to_act(self, state: S) -> tuple[Seat, ...]:
        """Return the seats that have a move now, `CHANCE` among them where it has; empty when the game is over."""

    @abstractmethod
    def on_turn(self, state: S) -> Seat | None:
        """Return the seat whose turn it is, or none when the game is over."""

    @abstractmethod
    def turn(self, state: S) -> int:
        """Return the number of the turn now running, counted from 1; a token's doubt depends on when it began."""

    @abstractmethod
    def moves(self, state: S, seat: Seat) -> list[Move]:
        """Return exactly the legal moves of a seat, sorted; of `CHANCE` the outcomes that may come now."""

    @abstractmethod
    def choices(self, state: S, seat: Seat, picked: tuple[Arg, ...] = ()) -> list[Choice]:
        """Return the legal moves of a seat one level at a time, like things grouped.

        What is picked is the beginning of a move, its name first; a choice that leads deeper holds what it adds to
        that in its fact ``pick``. For `CHANCE` this is what a person may type in, and tells nobody what is hidden:
        it may offer outcomes that only the secrets of others rule out, and what is picked may be any way to find
        one among many, a card's sign before its number.
        """

    @abstractmethod
    def play(self, state: S, seat: Seat, move: Move) -> S | Refusal:
        """Return the state after a seat's move, or why it cannot be made. The given state is never changed."""

    def chance(self, state: S) -> Chance | None:
        """Return what a die, a bag or a deck has to bring now, or none."""
        return None

    def amended(self, state: S, options: Mapping[str, Value]) -> S | Refusal:
        """Return the state of a running game after its house changed an option, or why that cannot be.

        The options are complete and each accepted by its `Option`.
        """
        return Refusal("not_amendable")

    def fall(self, state: S, fall: TokenDrop) -> Move:
        """Return the move by `TEMPLE` that enters a fallen token. It is legal in every state, even the last."""
        raise NotImplementedError(f"{self.name} uses no temple")

    def undoable(self, before: S, seat: Seat, move: Move) -> bool:
        """Return whether the seat may take this move of its own back while nobody has moved since."""
        return False

    def aside(self, move: Move) -> bool:
        """Return whether a move concerns the seat that makes it alone, such as a note in its own book.

        An aside may be made in every state and stands in no list of moves. It is written into each state that may
        still be returned to: it makes nobody's post stale, ends nobody's undo and is in the way of no turn. What
        `known` leaves of it for others is a legal aside too, and they are never told more, not even when it is over.
        """
        return False

    @abstractmethod
    def view(self, state: S, seat: Seat | None) -> Mapping[str, Json]:
        """Return what a seat, or with none a spectator, may know: the one place that strips secrets."""

    def known(self, before: S, by: Seat, move: Move, seat: Seat | None) -> Move:
        """Return a move that was made as a seat, or with none a spectator, may know it: for exports of the log."""
        return move

    @abstractmethod
    def regions(self, view: Mapping[str, Json]) -> Mapping[str, Mapping[str, Json]]:
        """Return the view cut into the named regions of the page; a region is drawn from its slice alone."""

    def story(self, before: S, seat: Seat, move: Move, after: S) -> list[Line]:
        """Return what a move did, as lines for the log that every seat may read."""
        return []

    def chronicle(self, views: Iterable[Mapping[str, Json]]) -> Mapping[str, Mapping[str, Json]]:
        """Return what the story of a game shows beside its log, as regions: ``templates/story/<region>.html``.

        The views are a spectator's, of the state at the end of each turn, the one now running last. After a turn
        whose end was taken back it comes once more.
        """
        return {}

    def reckoning(self, state: S) -> TokenAudit | None:
        """Return what became of the tokens of a temple, or none where the game uses none."""
        return None

    def decide(self, view: Mapping[str, Json], moves: Sequence[Move], below: Below) -> Move | None:
        """Return what the app plays for a seat: from what that seat sees and its legal moves, and nothing else.

        None waits for people: what is open now is not for the app to settle.
        """
        return moves[below(len(moves))]

    def idle(self, moves: Sequence[Move]) -> Move | None:
        """Return the move that does least, for a seat that is passed while its player is away; none waits."""
        return moves[0]

    def sheet(self, name: str, language: str) -> Mapping[str, Json]:
        """Return what one page for the printer shows; its template is ``templates/print/<name>.html``."""
        return {}

    def own_sheet(self, state: S, name: str, language: str) -> Mapping[str, Json]:
        """Return what a page for the printer shows of one table; everybody who sees the table may print it."""
        return {}

    def written(self, state: S) -> str:
        """Return the text that a tool has made for the option that `makes` names, sound or not."""
        raise NotImplementedError(f"{self.name} makes no text")

    def laws(self, state: S) -> Mapping[str, bool]:
        """Return the laws that every state keeps, each with whether this one does, for the suite of all games."""
        return {}

    def notation(self, state: S) -> str:
        """Return the state in one line: what `encoded` writes, where a game has nothing better for its readers."""
        return encoded(state)
