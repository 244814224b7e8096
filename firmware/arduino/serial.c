/* See serial.h. */
#include "serial.h"

#include <avr/interrupt.h>
#include <avr/io.h>

#include "pins.h"

static volatile uint8_t out[128], in[64];
static volatile uint8_t out_first, out_number, in_first, in_number;

ISR(USART_UDRE_vect) {
    UDR0 = out[out_first];
    out_first = (out_first + 1) % sizeof out;
    if (--out_number == 0) UCSR0B &= ~_BV(UDRIE0);
}

ISR(USART_RX_vect) {
    uint8_t c = UDR0;
    if (in_number < sizeof in) in[(in_first + in_number++) % sizeof in] = c;
}

void serial_begin(void) {
    UCSR0A = _BV(U2X0);
    UBRR0 = F_CPU / 8 / BAUD - 1;
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
}

uint8_t room(void) { return sizeof out - out_number; }

void put(char c) {
    cli();
    if (out_number < sizeof out) out[(out_first + out_number++) % sizeof out] = c;
    UCSR0B |= _BV(UDRIE0);
    sei();
}

bool take(char *c) {
    bool there = false;
    cli();
    if (in_number) {
        *c = in[in_first];
        in_first = (in_first + 1) % sizeof in;
        in_number--;
        there = true;
    }
    sei();
    return there;
}

bool serial_waits(void) { return in_number; }
