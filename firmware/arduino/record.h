/* The record in the chip's EEPROM: it takes the tokens that wait and writes them down, a byte whenever one can be. */
#ifndef TEMPLO_RECORD_H
#define TEMPLO_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger.h"

extern struct ledger ledger;

void record_begin(void);

/* Go on writing, if the memory is ready for it. */
void record(void);

/* Whether the next byte could be written now. */
bool record_ready(void);

/* Take a name; false while something else is being written. */
bool record_name(const uint8_t *name);

/* When a token fell, in milliseconds; false if that was before the program began, or is too long ago. */
bool record_time(uint32_t seq, uint32_t *fell_ms);

/* When the latest token was written down. */
uint32_t recorded_ms(void);

#endif
