"""Feathers: take feathers of one kind from an open market; what you give to the temple counts at the end."""

from fractions import Fraction

from companion.games import kit

KINDS = ("eagle", "heron", "hummingbird", "quetzal")
OPEN = 3


class State(kit.Struct, frozen=True):
    seats: tuple[str, ...]
    deck: tuple[str, ...]
    taken: tuple[tuple[str, ...], ...]
    market: tuple[str, ...] = ()
    turn: int = 1
    tokens: kit.Tokens = kit.Tokens()


def setup(options, seats):
    return State(seats, tuple(kind for kind in KINDS for _ in range(options["each"])), ((),) * len(seats))


def on_turn(state):
    return state.seats[(state.turn - 1) % len(state.seats)] if state.deck or state.market else None


def take(state, kind):
    at, market = state.seats.index(on_turn(state)), list(state.market)
    market.remove(kind)
    taken = kit.put(state.taken, at, tuple(sorted((*state.taken[at], kind))))
    return kit.replace(state, market=tuple(market), taken=taken, turn=state.turn + bool(market or state.deck))


def comes(state, kind):
    deck = list(state.deck)
    deck.remove(kind)
    return kit.replace(state, deck=tuple(deck), market=tuple(sorted((*state.market, kind))))


TAKE = kit.MoveType("take", take, {"kind": kit.one_of(*KINDS)})
COMES = kit.MoveType("comes", comes, {"kind": kit.one_of(*KINDS)}, kit.CHANCE)
COUNT = kit.TokenCount(on_turn)
MOVES = kit.MoveTable(TAKE, COMES, *COUNT.moves)


def chance(state):
    if not state.deck or len(state.market) == OPEN:
        return None
    odds = {kit.Move("comes", (kind,)): Fraction(state.deck.count(kind), len(state.deck)) for kind in {*state.deck}}
    return kit.Chance("comes", odds, automatic=True)


def points(state):
    sets = [sum(hand.count(kind) ** 2 for kind in KINDS) for hand in state.taken]
    return {seat: n + state.tokens.count(seat=seat) for seat, n in zip(state.seats, sets)}


def result(state):
    if on_turn(state):
        return None
    found = points(state)
    return kit.Result("points", tuple(seat for seat in found if found[seat] == max(found.values())), found)


def view(state, seat):
    return {
        "on_turn": on_turn(state),
        "deck": len(state.deck),
        "points": points(state),
        "taken": {each: {kind: hand.count(kind) for kind in KINDS} for each, hand in zip(state.seats, state.taken)},
    }


def log(before, by, move, after):
    facts = {"kind": move.args[0]} | ({"seat": by} if move.name == "take" else {})
    return COUNT.lines(before, by, move) or [kit.Line(move.name, facts)]


def decide(view, moves, below):
    mine = view["taken"][view["on_turn"]]
    return max(moves, key=lambda move: mine[move.args[0]])


GAME = kit.Game(
    "feathers",
    seatings={2: ("red", "blue"), 3: ("red", "blue", "green")},
    options=(kit.Option("each", 6, "", (4, 6, 8), low=3, high=12),),
    presets={"usual": {}},
    rules=kit.Rules(
        setup=setup,
        on_turn=on_turn,
        table=MOVES,
        listed=lambda state: [kit.Move("take", (kind,)) for kind in {*state.market}],
        chance=chance,
        anytime=COUNT.settling,
        result=result,
    ),
    page=kit.Page(view=view, log=log),
    bot=kit.Bot(decide=decide),
    temple=COUNT.temple,
)
