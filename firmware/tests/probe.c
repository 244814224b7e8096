/* What a test on another machine may see of a slot; no part of the firmware. */
#include "../arduino/counting.h"

#include <stddef.h>

size_t probe_size(void) { return sizeof(struct slot); }
uint8_t probe_beam(const struct slot *slot) { return slot->beam; }
uint16_t probe_missed(const struct slot *slot) { return slot->missed; }
