/* An Arduino Uno in the temple: edges by pin-change interrupts, tokens into EEPROM, lines over USB.

   The main loop waits for nothing but, when it reads a token to report it, the byte of EEPROM that is being written:
   bytes, characters and edges are each taken when they are ready, and it sleeps when none is. docs/serial.md says what
   the lines hold. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>

#include "clock.h"
#include "edges.h"
#include "lines.h"
#include "record.h"
#include "serial.h"
#include "tally.h"

/* A short flash at each token; slow while nobody listens; quick while a beam needs a hand. */
static void glow(void) {
    uint32_t now = now_ms();
    bool trouble = false;
    for (uint8_t god = 0; god < 2; god++) trouble |= slots[god].beam >= BEAM_JAMMED;
    bool lit = listened() ? now - recorded_ms() < 60 : now % 2048 < 1024;
    if (trouble) lit = now % 256 < 128;
    if (lit)
        PORTB |= _BV(5);
    else
        PORTB &= ~_BV(5);
}

int main(void) {
    wdt_enable(WDTO_2S);
    DDRB |= _BV(5);
    edges_begin();
    serial_begin();
    clock_begin();
    tally_begin();
    sei();
    record_begin(); /* it takes some 30 ms to read it all; edges wait meanwhile */
    set_sleep_mode(SLEEP_MODE_IDLE);
    for (;;) {
        wdt_reset();
        count();
        record();
        listen();
        speak();
        glow();
        cli();
        if (!edges_wait() && !serial_waits() && !record_ready()) {
            sleep_enable();
            sei(); /* the instruction after it still runs before any interrupt */
            sleep_cpu();
            sleep_disable();
        }
        sei();
    }
}
