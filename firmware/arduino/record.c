/* See record.h. */
#include "record.h"

#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <string.h>

#include "ages.h"
#include "clock.h"
#include "waiting.h"

#define QUIET_MS 1000 /* from a token to the mark: one that follows it soon brings its acknowledgement */

struct ledger ledger;

static uint32_t last_ms;
static uint8_t name_wanted[NAME_BYTES];
static enum { NAMED, WANTED, WRITING } naming;

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
    ages_begin(waiting_begin(ledger.seq));
}

bool record_ready(void) { return ledger_busy(&ledger) && resting(); }

static void recorded(void) {
    struct fallen fallen;
    uint32_t now = now_ms();
    last_ms = now;
    if (waiting_next(&fallen)) ages_add(ledger.seq, now - (uint16_t)(now - fallen.fell_ms));
    waiting_done();
}

void record(void) {
    struct fallen fallen;
    ages_pass(now_ms());
    if (!resting()) return;
    uint32_t before = ledger.seq;
    ledger_step(&ledger);
    if (ledger_busy(&ledger)) return;
    if (ledger.seq != before) recorded();
    if (naming == WRITING) naming = NAMED;
    if (naming == WANTED) {
        naming = WRITING;
        ledger_take_name(&ledger, name_wanted);
    } else if (waiting_next(&fallen)) {
        ledger_append(&ledger, fallen.god, fallen.flags, fallen.width);
    } else if (now_ms() - last_ms >= QUIET_MS) {
        ledger_mark(&ledger);
    }
}

void record_name(const uint8_t *name) {
    if (naming != NAMED) return;
    memcpy(name_wanted, name, NAME_BYTES);
    naming = WANTED;
}

bool record_naming(void) { return naming != NAMED; }

uint32_t recorded_ms(void) { return last_ms; }
