/* See cells.h. */
#include "cells.h"

#include <simavr/avr_eeprom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EECR = 0x3F, EEDR = 0x40, EEARL = 0x41, EEARH = 0x42 }; /* the ATmega328P's registers, as data addresses */
enum { EERE = 1, EEPE = 2, EEMPE = 4 };

static uint8_t whole[CELLS]; /* what was there before the byte that is being written */
static uint8_t byte;
static uint16_t at;
static int busy;
static avr_cycle_count_t begun, armed;
static unsigned long written, spoilt;

static uint8_t *held(avr_t *avr) {
    avr_eeprom_desc_t all = {.ee = NULL, .offset = 0, .size = CELLS};
    avr_ioctl(avr, AVR_IOCTL_EEPROM_GET, &all);
    return all.ee;
}

static void forbidden(const char *what) {
    fprintf(stderr, "the program %s the EEPROM while it was writing a byte\n", what);
    exit(4);
}

static avr_cycle_count_t finish(avr_t *avr, avr_cycle_count_t when, void *param) {
    (void)when, (void)param;
    busy = 0;
    whole[at] = byte;
    avr->data[EECR] &= ~EEPE;
    return 0;
}

/* Called after simavr's own part, which has taken or given the byte and dropped the bit. */
static void control(avr_t *avr, avr_io_addr_t address, uint8_t value, void *param) {
    (void)address, (void)param;
    if (value & EERE && busy) forbidden("read");
    if (value & EEMPE && !(value & EEPE)) armed = avr->cycle;
    if ((value & EEMPE) && (value & EEPE) && avr->cycle - armed <= 4) {
        if (busy) forbidden("wrote");
        busy = 1;
        written++;
        begun = avr->cycle;
        at = (avr->data[EEARL] | avr->data[EEARH] << 8) % CELLS;
        byte = avr->data[EEDR];
        avr_cycle_timer_register_usec(avr, CELL_US, finish, NULL);
    }
    if (busy) avr->data[EECR] |= EEPE;
}

void cells_begin(avr_t *avr, const uint8_t bytes[CELLS]) {
    memcpy(whole, bytes, CELLS);
    memcpy(held(avr), bytes, CELLS);
    busy = 0;
    avr_register_io_write(avr, EECR, control, NULL);
}

void cells_end(avr_t *avr, uint8_t bytes[CELLS], int power_fails) {
    memcpy(bytes, held(avr), CELLS);
    if (!busy || !power_fails) return;
    /* Half of the time the cell is erased, to ones; then its zeros are written. Some bits are there, some are not. */
    uint8_t some = (uint8_t)(avr->cycle * 0x9E3779B97F4A7C15ull >> 56);
    int erasing = (avr->cycle - begun) * 2 < CELL_US * (avr->frequency / 1000000);
    bytes[at] = erasing ? whole[at] | some : byte | some;
    spoilt++;
}

unsigned long cells_written(void) { return written; }
unsigned long cells_spoilt(void) { return spoilt; }
