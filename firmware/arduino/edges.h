/* The receivers' pins: every change of a level, stamped where it happened, until the main loop takes it.

   Interrupts put edges in, and never count. What is too much is lost from its first edge on until the loss is taken
   note of, so that nothing is counted from what is left over; how many were lost is reported. */
#ifndef TEMPLO_EDGES_H
#define TEMPLO_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#define EDGES 48 /* that wait at most; the longest turn of the main loop takes some 10 ms */

struct edge {
    uint32_t at; /* ticks */
    uint8_t god : 1, dark : 1;
};

void edges_begin(void);

bool is_dark(uint8_t god);

/* Take the oldest edge; false if there is none. */
bool next_edge(struct edge *edge);

/* Whether an edge waits; asked with interrupts switched off it stays true. */
bool edges_wait(void);

/* How many edges of a slot were lost, up to 255; from now on its edges are taken again. */
uint8_t edges_lost(uint8_t god);

#endif
