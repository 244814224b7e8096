/* What time it is since the program began: two clocks that wrap round, kept by two of the chip's timers. */
#ifndef TEMPLO_CLOCK_H
#define TEMPLO_CLOCK_H

#include <stdint.h>

#define TICK_US 4 /* 16 MHz through a prescaler of 64 */
#define TICKS_PER_MS (1000UL / TICK_US)

void clock_begin(void);

/* Ticks wrap after 4.8 hours; the second is for whoever has interrupts switched off. */
uint32_t ticks(void);
uint32_t ticks_locked(void);

/* Milliseconds, in steps of four; they wrap after 49 days. */
uint32_t now_ms(void);

#endif
