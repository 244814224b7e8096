"""Which text describes a card: the key and the facts of its effect, so that a card's words follow its rule.

The sentences are in the game's texts under ``effect``; a card's own title and story are in the words of its deck
under ``card.<id>``.
"""

from __future__ import annotations

from companion.games.kit import Facts
from companion.games.mexica.rules.cards import effects
from companion.games.mexica.rules.cards.deck import Card, Pile


def title(card: Card) -> str:
    """Return the key of a card's title."""
    return f"card.{card.id}.title"


def story(card: Card) -> str:
    """Return the key of a card's line of the wandering's story."""
    return f"card.{card.id}.story"


def sentence(card: Card) -> tuple[str, Facts]:
    """Return the key and the facts of the sentence that says what a card does."""
    key, facts = _sentence(card.effect, card.pile)
    return f"effect.{key}", facts


def counts(card: Card) -> str | None:
    """Return the key of what a week card says beside its bonus where it counts as a sign (ruling M19), or None."""
    return f"effect.counts.{card.sign}" if card.sign and not isinstance(card.effect, effects.Sign) else None


def _sentence(effect: effects.Effect, pile: Pile) -> tuple[str, Facts]:
    match effect:
        case effects.GoTo(space, bonus):
            return ("go_to.bonus", {"space": space, "n": bonus}) if bonus else ("go_to.bare", {"space": space})
        case effects.GoToStart(of):
            return "go_to_start", {"of": of}
        case effects.Walk(spaces):
            return ("walk.forward" if spaces > 0 else "walk.back"), {"n": abs(spaces)}
        case effects.AnotherTurn():
            return "another_turn", {}
        case effects.Gain(tokens):
            return "gain", {"n": tokens}
        case effects.Lose(tokens):
            return "lose", {"n": tokens}
        case effects.Pay(tokens, to):
            return f"pay.{to}", {"n": tokens}
        case effects.Demand(tokens, "me"):
            return "demand.me", {"n": tokens}
        case effects.Demand(tokens, god):
            return "demand.god", {"n": tokens, "god": god}
        case effects.Give(god, tokens):
            return "give", {"n": tokens, "god": god}
        case effects.Draw(of_pile):
            return f"draw.{of_pile}", {}
        case effects.TakeWeek(which):
            return f"take_week.{which}", {}
        case effects.Attack("nearest", bonus):
            return ("attack.nearest.bonus", {"n": bonus}) if bonus else ("attack.nearest.bare", {})
        case effects.Attack(whom, bonus):
            return ("attack.of.bonus", {"of": whom, "n": bonus}) if bonus else ("attack.of.bare", {"of": whom})
        case effects.ReturnCard(of_pile):
            return f"return_card.{of_pile}", {}
        case effects.Ward(against):
            # A Day card is a promise for later, a god's card is played in the battle that it ends.
            return (f"ward.{against}" if pile == "day" else "ward.now"), {}
        case effects.Boost(what, by, whose):
            when = "next" if pile == "day" else "now"
            return f"boost.{when}.{whose}.{_sense(by)}", {"what": what, "n": abs(by)}
        case effects.Reroll(whose):
            return f"reroll.{whose}", {}
        case effects.Standing(what, by):
            return f"standing.{_sense(by)}", {"what": what, "n": abs(by)}
        case effects.Sign(of_sign):
            return f"sign.{of_sign}", {}
        case effects.Nothing():
            return "nothing", {}


def _sense(by: int) -> str:
    return "more" if by > 0 else "fewer"
