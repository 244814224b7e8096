/* See tally.h. */
#include "tally.h"

#include "clock.h"
#include "edges.h"
#include "ledger.h"
#include "waiting.h"

struct slot slots[2];
struct limits limits = {3 * TICKS_PER_MS,   5 * TICKS_PER_MS,    250 * TICKS_PER_MS,
                        100 * TICKS_PER_MS, 1000 * TICKS_PER_MS, MOST_FLICKER};

void tally_begin(void) {
    for (uint8_t god = 0; god < 2; god++) slot_begin(&slots[god], is_dark(god), ticks());
}

static void fell(uint8_t god, const struct token *token) {
    uint32_t width = token->width / WIDTH_TICKS;
    struct fallen fallen = {
        .fell_ms = (uint16_t)(now_ms() - (ticks() - token->start) / TICKS_PER_MS),
        .width = width < 65535 ? (uint16_t)width : 65535,
        .god = god,
        .flags = token->flags,
    };
    waiting_add(&fallen);
}

/* Where edges were lost it is not known what came after; the level now is. */
static void recover(uint8_t god, uint8_t lost) {
    struct token token;
    bool dark = is_dark(god), differs = dark != slots[god].dark;
    if (slot_resync(&slots[god], &limits, ticks(), dark, &token)) fell(god, &token);
    slot_lose(&slots[god], lost - differs);
}

void count(void) {
    struct edge edge;
    struct token token;
    for (uint8_t most = EDGES; most && next_edge(&edge); most--)
        if (slot_feed(&slots[edge.god], &limits, edge.at, edge.dark, &token)) fell(edge.god, &token);
    if (edges_wait()) return;
    for (uint8_t god = 0; god < 2; god++) {
        uint8_t lost = edges_lost(god);
        if (lost)
            recover(god, lost);
        else if (slot_advance(&slots[god], &limits, ticks(), &token))
            fell(god, &token);
    }
}
