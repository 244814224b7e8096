/* See waiting.h. A token has its place by its number, so that nothing but the tokens need survive a reset. */
#include "waiting.h"

#include <stddef.h>

#include "clock.h"
#include "counting.h"
#include "ledger.h"

#define QUEUE 54
#define MARK 0x4D54

static struct place {
    uint16_t fell_ms, width;
    uint8_t god_flags;
    uint16_t mark, crc;
} queue[QUEUE] __attribute__((section(".noinit")));

static uint32_t recorded, last;
static uint8_t first; /* the place of token `recorded + 1` */
static uint16_t spilt[2];

static uint16_t sum(const struct place *place, uint32_t seq) {
    const uint8_t *bytes = (const uint8_t *)place;
    uint16_t crc = 0xFFFF;
    for (uint8_t i = 0; i < offsetof(struct place, crc); i++) crc = crc16(crc, bytes[i]);
    for (uint8_t i = 0; i < 4; i++, seq >>= 8) crc = crc16(crc, seq & 0xFF);
    return crc;
}

static struct place *place(uint8_t further) {
    uint8_t at = first + further;
    return &queue[at < QUEUE ? at : at - QUEUE];
}

static bool there(const struct place *place, uint32_t seq) {
    return place->mark == (uint16_t)(MARK ^ seq) && place->crc == sum(place, seq);
}

uint32_t waiting_begin(uint32_t seq) {
    recorded = last = seq;
    first = (seq + 1) % QUEUE;
    while (last - recorded < QUEUE && there(place(last - recorded), last + 1)) last++;
    return last;
}

static void append(uint8_t god, uint8_t flags, uint16_t width, uint16_t fell_ms) {
    struct place *free = place(last - recorded);
    free->fell_ms = fell_ms;
    free->width = width;
    free->god_flags = flags << 1 | god;
    free->mark = MARK ^ (last + 1);
    free->crc = sum(free, last + 1);
    last++;
}

void waiting_add(const struct fallen *fallen) {
    if (last - recorded < QUEUE && !spilt[0] && !spilt[1])
        append(fallen->god, fallen->flags, fallen->width, fallen->fell_ms);
    else if (spilt[fallen->god] < 65535)
        spilt[fallen->god]++;
}

bool waiting_next(struct fallen *fallen) {
    if (last == recorded) return false;
    const struct place *oldest = place(0);
    *fallen = (struct fallen){oldest->fell_ms, oldest->width, oldest->god_flags & 1, oldest->god_flags >> 1};
    return true;
}

void waiting_done(void) {
    recorded++;
    if (++first == QUEUE) first = 0;
    uint8_t god = spilt[TLALOC] > spilt[HUITZILOPOCHTLI] ? TLALOC : HUITZILOPOCHTLI;
    if (!spilt[god]) return;
    spilt[god]--;
    append(god, FLAG_MISSED_EDGE, 0, (uint16_t)now_ms());
}
