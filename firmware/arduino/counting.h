/* What the edges of one beam mean: the width rules of controller/core/counting.py, for a small machine.

   Pure: no clock, no registers, no memory of its own. Times are ticks of one clock that wraps round; whoever calls
   says how many make a second. `slot_advance` must be called at least every quarter of a wrap. */
#ifndef TEMPLO_COUNTING_H
#define TEMPLO_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_FLICKER 60 /* spells a second: more cannot be remembered in an Uno's 2 kB */

enum beam { BEAM_UNPROVED, BEAM_CLEAR, BEAM_JAMMED, BEAM_DARK, BEAM_FLICKER };
enum { FLAG_JAM = 1, FLAG_MISSED_EDGE = 2 };

struct limits { /* in ticks, `flicker` in spells a second */
    uint32_t min_break, min_clear, max_break, patience, second;
    uint8_t flicker;
};

struct token {
    uint32_t start, width;
    uint8_t flags;
};

enum { SPELL_NONE, SPELL_DARK, SPELL_QUIET, SPELL_CLOSED };

struct slot {
    uint32_t start, end, calm;
    uint32_t starts[MOST_FLICKER + 1];
    uint16_t glitches, missed;
    uint8_t first, number; /* of `starts`, a ring */
    uint8_t spell;         /* SPELL_... */
    uint8_t beam;
    uint8_t stuck; /* what the beam is while the spell lasts, if it is stuck; else BEAM_UNPROVED */
    bool dark, fresh;
    bool starting : 1; /* no edge has come yet: the first may be in the first level already, for a second */
    bool reported : 1; /* the spell can make no token any more */
    bool hollow : 1;   /* the spell never was one: dark from the start, or flicker */
    bool spell_missed : 1, flickers : 1;
};

/* Start from the level that was just read: dark at the start is a fault and no token. */
void slot_begin(struct slot *slot, bool dark, uint32_t now);

/* Take one edge, in the order in which they happened; true where that ends a token. */
bool slot_feed(struct slot *slot, const struct limits *limits, uint32_t at, bool dark, struct token *token);

/* Take a level that was read where edges were lost: a missed edge if it is another, and never a token of its own; true
   where that ends one. */
bool slot_resync(struct slot *slot, const struct limits *limits, uint32_t at, bool dark, struct token *token);

/* Take note of edges that were lost, once the level was read: it may have the next edge in it already. */
void slot_lose(struct slot *slot, uint8_t number);

/* Draw what follows from time alone; true where that ends a token. */
bool slot_advance(struct slot *slot, const struct limits *limits, uint32_t now, struct token *token);

/* Spells too short for a token so far, the latest included once it is closed. */
uint16_t slot_glitches(const struct slot *slot);

#endif
