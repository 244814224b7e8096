"""The siege's guide against its rule text: each sentence has its passage in both languages, with the same facts."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from markupsafe import Markup

from companion.games import registry
from companion.games.siege import GAME
from companion.games.siege.rules.field import COSTS, HOUSING, JUNGLE, PLOTS, ROAD, TEMPLE, WALL_COST
from companion.games.siege.rules.fighting import HIT
from companion.games.siege.rules.roster import FULL, ROSTERS
from companion.games.siege.rules.state import PHASES
from companion.web.rendering.guide import load
from companion.web.rendering.renderer import guide_file

registry.load()


class Rule(NamedTuple):
    """What a sentence of the rule text says, the guide's section for it, and the words of it in each language."""

    says: str
    section: int
    en: str
    es: str


ABOUT, MAP, BEFORE, TURN, EVENTS, MARCH, ATTACKS, DEFEAT, RALLY, FIRES = range(1, 11)
"""The guide's sections, counted from the title."""

UNITS = ROSTERS[FULL]


def units(people: str) -> int:
    """Return how many units of a people the engine sets up."""
    return [str(each) for each in UNITS.people].count(people)


RULES = (
    Rule("two sides, Aztecs and besiegers", ABOUT, "Two players fight", "Dos jugadores"),
    Rule("allies beside the Spaniards", ABOUT, "many allies", "aliados"),
    Rule("besiegers capture Cuauhtemoc", ABOUT, "besiegers win by capturing Cuauhtemoc", "Cuauhtémoc"),
    Rule("Aztecs capture Cortez", ABOUT, "the Aztecs by capturing Cortez", "Cortés"),
    Rule("a map of hexes", MAP, "map of hexes", "hexágonos"),
    Rule("the lake on one side", MAP, "The lake borders the city on one side", "El lago baña un lado de la ciudad"),
    Rule("walls around the rest", MAP, "a wall surrounds it on all others", "una muralla la rodea por los demás"),
    Rule("walls inside too", MAP, "walls inside the city too", "Dentro de la ciudad también"),
    Rule("roads", MAP, f"clear, road {COSTS[ROAD]}", f"despejado, calzada {COSTS[ROAD]}"),
    Rule("housing and plots", MAP, f"houses, plots {COSTS[HOUSING]}", f"casas, parcelas {COSTS[PLOTS]}"),
    Rule("jungle and temples", MAP, f"jungle, temple {COSTS[JUNGLE]}", f"selva, templo {COSTS[TEMPLE]}"),
    Rule("water for boats alone", MAP, "water 1, boats only", "agua 1, solo bergantines"),
    Rule("walls", MAP, f"crossing a wall {WALL_COST} more", f"cruzar una muralla {WALL_COST} más"),
    Rule("warriors", BEFORE, f"{units('warrior')} units of warriors", f"{units('warrior')} unidades de guerreros"),
    Rule("Totonacs", BEFORE, f"{units('totonac')} of Totonacs", f"{units('totonac')} de totonacas"),
    Rule("Tlascalans", BEFORE, f"{units('tlascalan')} of Tlascalans", f"{units('tlascalan')} de tlaxcaltecas"),
    Rule("Cholulans", BEFORE, f"{units('cholula')} of Cholulans", f"{units('cholula')} de cholultecas"),
    Rule("Texcocoans", BEFORE, f"{units('texcocoan')} of Texcocoans", f"{units('texcocoan')} de texcocanos"),
    Rule("rogues", BEFORE, f"{units('rogue')} of Rogue Aztecs", f"{units('rogue')} de mexicas rebeldes"),
    Rule("boats", BEFORE, f"{units('boat')} brigantines", f"{units('boat')} bergantines"),
    Rule("Conquistadors", BEFORE, f"{units('conquistador')} units of C", f"{units('conquistador')} unidades de c"),
    Rule("Aztecs inside", BEFORE, "anywhere in the city", "en cualquier lugar de la ciudad"),
    Rule("besiegers outside", BEFORE, "besiegers place outside it", "colocan fuera de ella"),
    Rule("three units in each city", BEFORE, "starts with at least three", "empieza con al menos tres"),
    Rule("how many a unit stands for", BEFORE, "ten thousand warriors", "diez mil guerreros"),
    Rule("two rolls for events", EVENTS, "Roll two dice", "Tira dos dados"),
    Rule("1 to 3", EVENTS, "each 1 to 3 an Aztec unit dies", "cada 1 a 3 muere de hambre o enfermedad una"),
    Rule("4 to 6", EVENTS, "each 4 to 6 one of the besiegers' allies", "cada 4 a 6, una unidad aliada"),
    Rule("the owner picks", EVENTS, "owner chooses which", "elige su dueño"),
    Rule("no stacks but on boats", MARCH, "No two units may end on the same hex, except", "salvo el pasajero"),
    Rule("one die, rolled before", MARCH, "one die for a march", "un dado para la normal"),
    Rule("two dice", MARCH, "two for a forced march", "dos para la forzada"),
    Rule("then no attack", MARCH, "force-marches may not attack", "no puede atacar en ese turno"),
    Rule("boats on water", BEFORE, "move on water, with a rider", "van por el agua, con un pasajero"),
    Rule("through friends", MARCH, "may pass through friends", "pueden pasar por hexágonos con amigas"),
    Rule("not through enemies", MARCH, "never through enemies", "nunca por los de enemigas"),
    Rule("routed not towards enemies", MARCH, "routed unit may not move toward", "desbandada no puede ir hacia"),
    Rule("routed beside an enemy", MARCH, "At once: it retreats", "En el acto: se retira"),
    Rule("not into fire", MARCH, "no unit may enter a fire", "ninguna puede entrar en un incendio"),
    Rule("an adjacent enemy", ATTACKS, "may attack one adjacent enemy", "atacar una vez a un enemigo contiguo"),
    Rule("no attack by the routed", ATTACKS, "Routed units, and those that force-marched, cannot attack",
         "Las que están en desbandada o fueron en marcha forzada no pueden atacar"),
    Rule("the hit", ATTACKS, f"a {HIT} or 6 defeats the defender", f"con {HIT} o 6 derrota al defensor"),
    Rule("the 1", ATTACKS, "a 1 defeats the attacker", "con 1 es él el derrotado"),
    Rule("Conquistadors", ATTACKS, "+1 the attackers are Conquistadors", "+1 atacan conquistadores"),
    Rule("routed targets", ATTACKS, "+1 the target is routed", "+1 el blanco está en desbandada"),
    Rule("leaders", ATTACKS, "+1 the attacker is a leader, or is next to its own leader",
         "+1 el atacante es un caudillo o está junto al suyo"),
    Rule("walls", ATTACKS, "−1 besiegers attack Aztecs behind a wall", "−1 los sitiadores atacan a mexicas tras una"),
    Rule("against Spaniards", ATTACKS, "−1 Aztecs attack Conquistadors or Cortez",
         "−1 los mexicas atacan a conquistadores o a Cortés"),
    Rule("boats", ATTACKS, "−1 the attacker is on a boat", "−1 el atacante va en un bergantín"),
    Rule("the defeated roll", DEFEAT, "A defeated unit rolls a die", "Una unidad derrotada tira un dado"),
    Rule("destroyed", DEFEAT, "On a 1 or 2 it is destroyed", "Con 1 o 2 es destruida"),
    Rule("routed", DEFEAT, "On 3 or more it is routed", "Con 3 o más queda en desbandada"),
    Rule("the retreat", DEFEAT, "Exactly, along a path", "Exactamente, por el camino"),
    Rule("flipped", DEFEAT, "turn it over", "dale la vuelta"),
    Rule("panic", DEFEAT, "each rolls a die, and routs as well on a 1 or 2", "con 1 o 2 también cae en desbandada"),
    Rule("fires", DEFEAT, "stood among houses, a fire breaks out", "estaba entre casas, allí se declara un incendio"),
    Rule("the advance", DEFEAT, "may advance to an adjacent hex and attack again", "puede avanzar a un hexágono"),
    Rule("who may rally", RALLY, "routed units with no enemy next to it", "en desbandada sin enemigos contiguos"),
    Rule("rallied", RALLY, "rallies on a 5 or 6", "se reagrupa con 5 o 6"),
    Rule("beside a leader", RALLY, "4 to 6 next to its leader", "4 a 6 junto a su caudillo"),
    Rule("fires go out", FIRES, "it goes out on a 1 or 2", "se apaga con 1 o 2"),
)  # fmt: skip


def sections(language: str) -> list[str]:
    """Return the guide's text under each heading, tables and rulings among it."""
    found: list[str] = []
    for passage in load(guide_file(registry.folder(GAME), language)).passages:
        if passage.heading or not found:
            found.append("")
        notes = [part for note in passage.notes for part in (note.says, note.reads)]
        texts = [Markup(part).replace("\xad", "").striptags() for part in (passage.prose, *notes)]
        found[-1] = " ".join([found[-1], *texts])
    return [" ".join(text.split()) for text in found]


@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.section}-{rule.says}".replace(" ", "_"))
def test_the_guide_says_what_the_rule_text_says(rule: Rule, language: str) -> None:
    assert getattr(rule, language) in sections(language)[rule.section - 1]


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_guide_has_a_section_for_each_part_of_the_rule_text(language: str) -> None:
    assert len(sections(language)) == FIRES


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_guide_lists_the_phases_that_the_engine_plays(language: str) -> None:
    guide = guide_file(registry.folder(GAME), language).read_text("utf-8")
    assert f"\n{len(PHASES)}. " in guide
    assert f"\n{len(PHASES) + 1}. " not in guide
