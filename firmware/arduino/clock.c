/* See clock.h. */
#include "clock.h"

#include <avr/interrupt.h>
#include <avr/io.h>

static volatile uint16_t overflows;
static volatile uint32_t milliseconds;

ISR(TIMER1_OVF_vect) { overflows++; }
ISR(TIMER2_COMPA_vect) { milliseconds += 4; }

void clock_begin(void) {
    TCCR1B = _BV(CS11) | _BV(CS10);
    TIMSK1 = _BV(TOIE1);
    OCR2A = 249; /* 4 ms: 16 MHz / 256 / 250 */
    TCCR2A = _BV(WGM21);
    TCCR2B = _BV(CS22) | _BV(CS21);
    TIMSK2 = _BV(OCIE2A);
}

uint32_t ticks_locked(void) {
    uint16_t low = TCNT1, high = overflows;
    if ((TIFR1 & _BV(TOV1)) && low < 0x8000) high++;
    return (uint32_t)high << 16 | low;
}

uint32_t ticks(void) {
    uint8_t state = SREG;
    cli();
    uint32_t now = ticks_locked();
    SREG = state;
    return now;
}

uint32_t now_ms(void) {
    uint8_t state = SREG;
    cli();
    uint32_t now = milliseconds;
    SREG = state;
    return now;
}
