"""Race: two runners, a die, cards, and a path that the temple's rain turns to mud."""

from fractions import Fraction

from companion.games import kit

DECK = (2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6)
HAND, GOAL, MOST_MUD = 2, 30, 3


class State(kit.Struct, frozen=True):
    seats: tuple[str, ...]
    goal: int
    places: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...]
    deck: tuple[int, ...] = DECK
    rolling: bool = False
    turn: int = 1
    tokens: kit.Tokens = kit.Tokens()


def setup(options, seats):
    return State(seats, options["goal"], (0,) * len(seats), ((),) * len(seats))


def on_turn(state):
    return None if max(state.places) >= state.goal else state.seats[(state.turn - 1) % len(state.seats)]


def mud(state):
    wet = state.tokens.count("tlaloc") - state.tokens.count("huitzilopochtli")
    return max(0, min(MOST_MUD, wet // 2))


def runs(state, n):
    at = state.seats.index(on_turn(state))
    places = kit.added(state.places, at, n)
    return kit.replace(state, places=places, rolling=False, turn=state.turn + (places[at] < state.goal))


def card(state, n):
    at = state.seats.index(on_turn(state))
    hand = list(state.hands[at])
    hand.remove(n)
    return runs(kit.replace(state, hands=kit.put(state.hands, at, tuple(hand))), n)


def short(state):
    return [at for at, hand in enumerate(state.hands) if len(hand) < HAND]


def draw(state, n):
    at, deck = short(state)[0], list(state.deck)
    deck.remove(n)
    hand = tuple(sorted((*state.hands[at], n)))
    return kit.replace(state, deck=tuple(deck), hands=kit.put(state.hands, at, hand))


ROLL = kit.MoveType("roll", lambda state: kit.replace(state, rolling=True))
SHOWS = kit.MoveType(
    "shows", lambda state, n: runs(state, max(0, n - mud(state))), {"n": kit.number(1, 6)}, kit.CHANCE
)
CARD = kit.MoveType("card", card, {"n": kit.number(2, 6)})
DRAW = kit.MoveType("draw", draw, {"n": kit.number(2, 6)}, kit.CHANCE)
COUNT = kit.TokenCount(on_turn)
MOVES = kit.MoveTable(ROLL, SHOWS, CARD, DRAW, *COUNT.moves)


def listed(state):
    hand = state.hands[state.seats.index(on_turn(state))]
    return ROLL.all() + [kit.Move("card", (n,)) for n in {*hand}]


def chance(state):
    if not on_turn(state):
        return None
    if state.deck and short(state):
        odds = {kit.Move("draw", (n,)): Fraction(state.deck.count(n), len(state.deck)) for n in {*state.deck}}
        return kit.Chance("draw", odds, state.seats[short(state)[0]], secret=True, automatic=True)
    if state.rolling:
        return kit.Chance("die", {face: Fraction(1, 6) for face in SHOWS.all()}, on_turn(state))
    return None


def resample(state, seat, below):
    at = state.seats.index(seat)
    hidden = kit.shuffled([*state.deck, *state.hands[1 - at]], below)
    size = len(state.hands[1 - at])
    hands = kit.put(state.hands, 1 - at, tuple(sorted(hidden[:size])))
    return kit.replace(state, hands=hands, deck=tuple(sorted(hidden[size:])))


def result(state):
    if on_turn(state):
        return None
    winners = tuple(seat for seat, place in zip(state.seats, state.places) if place >= state.goal)
    return kit.Result("goal", winners, dict(zip(state.seats, state.places)))


def view(state, seat):
    return {
        "on_turn": on_turn(state),
        "goal": state.goal,
        "places": dict(zip(state.seats, state.places)),
        "hand": list(state.hands[state.seats.index(seat)]) if seat else [],
        "mud": mud(state),
    }


def known(before, by, move, seat):
    return move._replace(args=()) if move.name == "draw" and chance(before).seat != seat else move


def log(before, by, move, after):
    if move.name == "draw":
        return [kit.Line("draw", {"seat": chance(before).seat})]
    return COUNT.lines(before, by, move) or [kit.Line(move.name, {"seat": on_turn(before), **MOVES.facts(move)})]


def decide(view, moves, below):
    cards = [move for move in moves if move.name == "card"]
    best = max(cards, key=lambda move: move.args, default=None)
    return best if best and best.args[0] >= 4 - view["mud"] else moves[-1]


GAME = kit.Game(
    "race",
    seatings={2: ("red", "blue")},
    options=(kit.Option("goal", GOAL, "", (20, 30, 50), low=10, high=100),),
    presets={"usual": {}},
    rules=kit.Rules(
        setup=setup,
        on_turn=on_turn,
        table=MOVES,
        listed=listed,
        chance=chance,
        anytime=COUNT.settling,
        resample=resample,
        result=result,
    ),
    page=kit.Page(view=view, log=log, known=known),
    bot=kit.Bot(decide=decide),
    temple=COUNT.temple,
)
