/* See ages.h. */
#include "ages.h"

#define REMEMBERED 16
#define MOST_MS (48UL * 24 * 60 * 60 * 1000) /* the clock wraps after 49.7 days */

static uint32_t fell[REMEMBERED], last, unknown; /* `unknown` is the latest of which nothing is known */

void ages_begin(uint32_t seq) { last = unknown = seq; }

void ages_add(uint32_t seq, uint32_t fell_ms) {
    if (seq <= unknown) return;
    last = seq;
    fell[seq % REMEMBERED] = fell_ms;
    if (last - unknown > REMEMBERED) unknown = last - REMEMBERED;
}

void ages_pass(uint32_t now_ms) {
    while (unknown < last && now_ms - fell[(unknown + 1) % REMEMBERED] > MOST_MS) unknown++;
}

bool ages_of(uint32_t seq, uint32_t now_ms, uint32_t *age_ms) {
    if (seq <= unknown || seq > last) return false;
    *age_ms = now_ms - fell[seq % REMEMBERED];
    return true;
}
