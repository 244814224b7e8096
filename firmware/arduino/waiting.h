/* Tokens that were counted and are not yet written down: a queue in memory that a reset leaves as it is.

   Each carries the number that it will be recorded under and a checksum over both. So after a reset those are found
   again that the record does not have, each once; after a power cut memory is noise, and none is. Laws:
   - A token that was added is recorded, in its order, unless the power fails first.
   - More than there is room for keep their count and lose the rest: they come last, without a width, flagged. These
     alone are gone with a reset. */
#ifndef TEMPLO_WAITING_H
#define TEMPLO_WAITING_H

#include <stdbool.h>
#include <stdint.h>

struct fallen {
    uint16_t fell_ms; /* the lower half of `now_ms` */
    uint16_t width;   /* as `struct kept` has it */
    uint8_t god, flags;
};

/* Begin behind the last token that is recorded; return the number of the last that was found waiting, or of that. */
uint32_t waiting_begin(uint32_t recorded);

void waiting_add(const struct fallen *fallen);

/* Read the one that is recorded next; false if none waits. */
bool waiting_next(struct fallen *fallen);

/* Forget it: it is written down. */
void waiting_done(void);

#endif
