/* Where the receivers are, and how fast the line is: a test holds this against controller/app/pins.toml. Each receiver has
   a port of its own, so that each has an interrupt vector of its own. */
#ifndef TEMPLO_PINS_H
#define TEMPLO_PINS_H

#define BAUD 115200UL
#define PROTOCOL 1
#ifndef SOFTWARE
#define SOFTWARE "1.0.0"
#endif

/* Digital pin 2 is PD2, PCINT18. */
#define HUITZ_PIN 2
#define HUITZ_IN PIND
#define HUITZ_PORT PORTD
#define HUITZ_BIT _BV(2)
#define HUITZ_VECTOR PCINT2_vect
#define HUITZ_GROUP _BV(PCIE2)
#define HUITZ_MASK PCMSK2

/* Digital pin 8 is PB0, PCINT0. */
#define TLALOC_PIN 8
#define TLALOC_IN PINB
#define TLALOC_PORT PORTB
#define TLALOC_BIT _BV(0)
#define TLALOC_VECTOR PCINT0_vect
#define TLALOC_GROUP _BV(PCIE0)
#define TLALOC_MASK PCMSK0

#endif
