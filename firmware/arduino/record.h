/* The record in the chip's EEPROM: it takes the tokens that wait and writes them down, a byte whenever one can be. */
#ifndef TEMPLO_RECORD_H
#define TEMPLO_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger.h"

extern struct ledger ledger;

void record_begin(void);

/* Go on writing, if the memory is ready for it. To read it is to wait until it is: 3.4 ms at most. */
void record(void);

/* Whether the next byte could be written now. */
bool record_ready(void);

/* Take a name as soon as nothing else is being written; another is not taken until that is done. */
void record_name(const uint8_t *name);
bool record_naming(void);

/* When the latest token was written down. */
uint32_t recorded_ms(void);

#endif
