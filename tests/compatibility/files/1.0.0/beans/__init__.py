"""Beans: throw as often as you dare, stop in time, be the first to reach the goal."""

from fractions import Fraction

from companion.games import kit


class State(kit.Struct, frozen=True):
    goal: int
    seats: tuple[str, ...]
    scores: tuple[int, ...]
    turn: int = 1
    gathered: int = 0
    rolling: bool = False


def on_turn(state):
    return None if max(state.scores) >= state.goal else state.seats[(state.turn - 1) % len(state.seats)]


def stop(state):
    scores = kit.added(state.scores, state.seats.index(on_turn(state)), state.gathered)
    return State(state.goal, state.seats, scores, state.turn + (max(scores) < state.goal))


def shows(state, n):
    if n == 1:
        return stop(kit.replace(state, gathered=0))
    return kit.replace(state, gathered=state.gathered + n, rolling=False)


THROW = kit.MoveType("throw", lambda state: kit.replace(state, rolling=True))
STOP = kit.MoveType("stop", stop)
SHOWS = kit.MoveType("shows", shows, {"n": kit.number(1, 6)}, kit.CHANCE)
DIE = {face: Fraction(1, 6) for face in SHOWS.all()}
GAME = kit.Game(
    "beans",
    seatings={2: ("red", "blue"), 3: ("red", "blue", "green")},
    options=(kit.Option("goal", 30, "", (20, 30, 50), low=10, high=100),),
    presets={"plain": {}, "short": {"goal": 20}},
    rules=kit.Rules(
        setup=lambda options, seats: State(options["goal"], seats, (0,) * len(seats)),
        on_turn=on_turn,
        table=kit.MoveTable(THROW, STOP, SHOWS),
        listed=lambda state: THROW.all() + STOP.all() * bool(state.gathered),
        chance=lambda state: kit.Chance("die", DIE, on_turn(state)) if state.rolling else None,
        result=lambda s: None if on_turn(s) else kit.Result("goal", (s.seats[s.scores.index(max(s.scores))],)),
    ),
    page=kit.Page(
        view=lambda s, seat: {"on_turn": on_turn(s), "gathered": s.gathered, "scores": dict(zip(s.seats, s.scores))},
        log=lambda was, _, move, after: [kit.Line(move.name, {"seat": on_turn(was), **dict(zip("n", move.args))})],
    ),
)
