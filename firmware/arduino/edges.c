/* See edges.h. */
#include "edges.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/delay.h>

#include "clock.h"
#include "ledger.h"
#include "pins.h"

static volatile struct edge edges[EDGES];
static volatile uint8_t first, number, lost[2];

void edges_begin(void) {
    HUITZ_PORT |= HUITZ_BIT; /* pull-ups */
    TLALOC_PORT |= TLALOC_BIT;
    _delay_us(500); /* what they need to lift a cable: their slope is no edge, and proves no beam */
    PCICR = HUITZ_GROUP | TLALOC_GROUP;
    HUITZ_MASK |= HUITZ_BIT;
    TLALOC_MASK |= TLALOC_BIT;
}

bool is_dark(uint8_t god) { return god == TLALOC ? !(TLALOC_IN & TLALOC_BIT) : !(HUITZ_IN & HUITZ_BIT); }

static void heard(uint8_t god) {
    if (number == EDGES || lost[god]) {
        if (lost[god] < 255) lost[god]++;
        return;
    }
    uint8_t last = first + number;
    volatile struct edge *edge = &edges[last < EDGES ? last : last - EDGES];
    edge->at = ticks_locked();
    edge->god = god;
    edge->dark = is_dark(god);
    number++;
}

ISR(HUITZ_VECTOR) { heard(HUITZILOPOCHTLI); }
ISR(TLALOC_VECTOR) { heard(TLALOC); }

bool next_edge(struct edge *edge) {
    bool there = false;
    cli();
    if (number) {
        *edge = *(struct edge *)&edges[first];
        if (++first == EDGES) first = 0;
        number--;
        there = true;
    }
    sei();
    return there;
}

bool edges_wait(void) { return number; }

uint8_t edges_lost(uint8_t god) {
    cli();
    uint8_t some = lost[god];
    lost[god] = 0;
    if (some) PCIFR = god == TLALOC ? TLALOC_GROUP : HUITZ_GROUP; /* one that came meanwhile is lost as well */
    sei();
    return some;
}
