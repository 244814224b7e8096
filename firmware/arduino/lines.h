/* The board's end of the lines that docs/serial.md describes: what it sends of its record, and what it receives. */
#ifndef TEMPLO_LINES_H
#define TEMPLO_LINES_H

#include <stdbool.h>

/* Do what the lines that came say. */
void listen(void);

/* Say the line that is due most, if one is and there is room for it. */
void speak(void);

/* Whether somebody reads. */
bool listened(void);

#endif
