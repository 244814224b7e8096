/* See record.h. */
#include "record.h"

#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/wdt.h>

#include "clock.h"
#include "tally.h"

#define REMEMBERED 16

struct ledger ledger;

static uint32_t fell_ms[REMEMBERED], booted_with, writing_ms, last_ms;

ISR(EE_READY_vect) { EECR &= ~_BV(EERIE); } /* only to wake the main loop */

uint8_t memory_read(uint16_t at) { return eeprom_read_byte((const uint8_t *)at); }

void memory_write(uint16_t at, uint8_t byte) {
    EEAR = at;
    EEDR = byte;
    cli(); /* the two writes belong together, within four cycles */
    EECR |= _BV(EEMPE);
    EECR |= _BV(EEPE);
    EECR |= _BV(EERIE);
    sei();
}

static bool resting(void) { return !(EECR & _BV(EEPE)); }

void record_begin(void) {
    ledger_open(&ledger);
    booted_with = ledger.seq;
}

bool record_ready(void) { return ledger_busy(&ledger) && resting(); }

void record(void) {
    if (!resting()) return;
    uint32_t before = ledger.seq;
    ledger_step(&ledger);
    if (ledger.seq != before) {
        fell_ms[ledger.seq % REMEMBERED] = writing_ms;
        last_ms = now_ms();
    }
    const struct fallen *next = first_fallen();
    if (!ledger_busy(&ledger) && next) {
        writing_ms = next->fell_ms;
        ledger_append(&ledger, next->god, next->flags, next->width);
        forget_fallen();
    }
}

bool record_name(const uint8_t *name) {
    if (ledger_busy(&ledger)) return false;
    ledger_take_name(&ledger, name);
    while (ledger_busy(&ledger) && !ledger.worn) { /* once in a board's life: interrupts go on collecting edges */
        wdt_reset();
        if (resting()) ledger_step(&ledger);
    }
    return true;
}

bool record_time(uint32_t seq, uint32_t *at_ms) {
    if (seq <= booted_with || ledger.seq - seq >= REMEMBERED) return false;
    *at_ms = fell_ms[seq % REMEMBERED];
    return true;
}

uint32_t recorded_ms(void) { return last_ms; }
