/* What the edges come to: both slots, and the tokens that fell and wait to be written down. It never writes. */
#ifndef TEMPLO_TALLY_H
#define TEMPLO_TALLY_H

#include <stdint.h>

#include "counting.h"

#define WIDTH_TICKS 5 /* one step of a recorded width: 20 us */

struct fallen {
    uint32_t fell_ms;
    uint16_t width;
    uint8_t god, flags;
};

extern struct slot slots[2];
extern struct limits limits;

/* Begin with the levels as they are. */
void tally_begin(void);

/* Count every edge that waits, and draw what follows from time alone. */
void count(void);

/* The token that has waited longest, or null; and forget it. */
const struct fallen *first_fallen(void);
void forget_fallen(void);

#endif
