/* What the edges come to: both slots, and the tokens that fall through them. It never writes one down. */
#ifndef TEMPLO_TALLY_H
#define TEMPLO_TALLY_H

#include "counting.h"

#define WIDTH_TICKS 5 /* one step of a recorded width: 20 us */

extern struct slot slots[2];
extern struct limits limits;

/* Begin with the levels as they are. */
void tally_begin(void);

/* Count every edge that waits, and draw what follows from time alone. */
void count(void);

#endif
