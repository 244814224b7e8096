/* Characters over USB, each way through a queue that an interrupt fills or empties; it never waits. */
#ifndef TEMPLO_SERIAL_H
#define TEMPLO_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

void serial_begin(void);

/* How many characters can be put without losing one. */
uint8_t room(void);
void put(char c);

/* Take the next character that came; false if there is none. */
bool take(char *c);

/* Whether a character waits; asked with interrupts switched off it stays true. */
bool serial_waits(void);

#endif
