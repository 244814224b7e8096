/* The EEPROM of a simulated chip as its data sheet has it: a byte takes its time, and power that fails spoils it.

   simavr writes at once. This holds EEPE up for 3.4 ms after each byte, ends the simulation where a program reads or
   writes meanwhile, and leaves half a byte where the power goes in the middle. It never keeps the file. */
#ifndef TEMPLO_TESTS_CELLS_H
#define TEMPLO_TESTS_CELLS_H

#include <simavr/sim_avr.h>
#include <stdint.h>

#define CELLS 1024
#define CELL_US 3400 /* ATmega328P, table 8-1: erase and write in one operation */

/* Put what the cells hold into a chip that was just made. */
void cells_begin(avr_t *avr, const uint8_t bytes[CELLS]);

/* Return what they hold as the chip stops; a byte that was being written is spoilt if `power_fails`. */
void cells_end(avr_t *avr, uint8_t bytes[CELLS], int power_fails);

/* How many bytes were written since the simulation began, and how many of them were spoilt. */
unsigned long cells_written(void), cells_spoilt(void);

#endif
