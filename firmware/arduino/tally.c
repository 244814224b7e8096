/* See tally.h. */
#include "tally.h"

#include "clock.h"
#include "edges.h"
#include "ledger.h"

#define QUEUE 24

struct slot slots[2];
struct limits limits = {3 * TICKS_PER_MS,   5 * TICKS_PER_MS,    250 * TICKS_PER_MS,
                        100 * TICKS_PER_MS, 1000 * TICKS_PER_MS, MOST_FLICKER};

static struct fallen queue[QUEUE];
static uint8_t first, number;

void tally_begin(void) {
    for (uint8_t god = 0; god < 2; god++) slot_begin(&slots[god], is_dark(god), ticks());
}

static void fell(uint8_t god, const struct token *token) {
    uint32_t width = token->width / WIDTH_TICKS;
    uint8_t last = first + number;
    if (last >= QUEUE) last -= QUEUE;
    queue[last].fell_ms = now_ms() - (ticks() - token->start) / TICKS_PER_MS;
    queue[last].width = width < 65535 ? (uint16_t)width : 65535;
    queue[last].god = god;
    queue[last].flags = token->flags;
    number++;
}

/* Two tokens may come of one round of this, so that many places are kept; edges wait in their own queue meanwhile. */
void count(void) {
    struct edge edge;
    struct token token;
    while (number < QUEUE - 2 && next_edge(&edge))
        if (slot_feed(&slots[edge.god], &limits, edge.at, edge.dark, &token)) fell(edge.god, &token);
    if (edges_wait() || number >= QUEUE - 2) return;
    for (uint8_t god = 0; god < 2; god++) {
        uint8_t lost = edges_lost(god);
        if (lost) {
            /* What came after the loss is not known; the level now is. */
            slots[god].missed += lost;
            bool dark = is_dark(god);
            if (dark != slots[god].dark && slot_feed(&slots[god], &limits, ticks(), dark, &token)) {
                token.flags |= FLAG_MISSED_EDGE;
                fell(god, &token);
            }
        } else if (slot_advance(&slots[god], &limits, ticks(), &token)) {
            fell(god, &token);
        }
    }
}

const struct fallen *first_fallen(void) { return number ? &queue[first] : 0; }

void forget_fallen(void) {
    if (++first == QUEUE) first = 0;
    number--;
}
