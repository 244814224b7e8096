/* An Arduino Uno in the temple: edges by pin-change interrupts, tokens into EEPROM, lines over USB.

   The main loop never waits: EEPROM bytes, characters and edges are each taken when they are ready, and it sleeps
   when none is. docs/serial.md says what the lines hold. */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <string.h>

#include "counting.h"
#include "ledger.h"
#include "pins.h"

#define TICKS_PER_MS 250UL /* 4 us each: 16 MHz through a prescaler of 64 */
#define WIDTH_TICKS 5      /* one step of a recorded width: 20 us */
#define EDGES 96
#define QUEUE 24
#define REMEMBERED 16
#define WINDOW 8
#define HEARTBEAT_MS 1000
#define CHANGE_MS 200
#define SILENCE_MS 1000

struct edge {
    uint32_t at;
    uint8_t god : 1, dark : 1;
};

/* -- time -- */

static volatile uint16_t overflows;
static volatile uint32_t milliseconds;

ISR(TIMER1_OVF_vect) { overflows++; }
ISR(TIMER2_COMPA_vect) { milliseconds += 4; }

static uint32_t ticks_locked(void) {
    uint16_t low = TCNT1, high = overflows;
    if ((TIFR1 & _BV(TOV1)) && low < 0x8000) high++;
    return (uint32_t)high << 16 | low;
}

static uint32_t ticks(void) {
    uint8_t state = SREG;
    cli();
    uint32_t now = ticks_locked();
    SREG = state;
    return now;
}

static uint32_t now_ms(void) {
    uint8_t state = SREG;
    cli();
    uint32_t now = milliseconds;
    SREG = state;
    return now;
}

/* -- edges -- */

static volatile struct edge edges[EDGES];
static volatile uint8_t edges_first, edges_number, edges_lost[2];

ISR(EE_READY_vect) { EECR &= ~_BV(EERIE); } /* only to wake the main loop */

static bool is_dark(uint8_t god) { return god == TLALOC ? !(TLALOC_IN & TLALOC_BIT) : !(HUITZ_IN & HUITZ_BIT); }

static void heard(uint8_t god) {
    if (edges_number == EDGES) {
        if (edges_lost[god] < 255) edges_lost[god]++;
        return;
    }
    uint8_t last = edges_first + edges_number;
    volatile struct edge *edge = &edges[last < EDGES ? last : last - EDGES];
    edge->at = ticks_locked();
    edge->god = god;
    edge->dark = is_dark(god);
    edges_number++;
}

ISR(HUITZ_VECTOR) { heard(HUITZILOPOCHTLI); }
ISR(TLALOC_VECTOR) { heard(TLALOC); }

static bool next_edge(struct edge *edge) {
    bool there = false;
    cli();
    if (edges_number) {
        *edge = *(struct edge *)&edges[edges_first];
        if (++edges_first == EDGES) edges_first = 0;
        edges_number--;
        there = true;
    }
    sei();
    return there;
}

/* -- characters -- */

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

static uint8_t room(void) { return sizeof out - out_number; }

static void put(char c) {
    cli();
    if (out_number < sizeof out) out[(out_first + out_number++) % sizeof out] = c;
    UCSR0B |= _BV(UDRIE0);
    sei();
}

static uint16_t line_crc;

static void say(char c) {
    line_crc = crc16(line_crc, c);
    put(c);
}

static void say_number(uint32_t value) {
    char digits[10];
    uint8_t n = 0;
    do digits[n++] = '0' + value % 10;
    while (value /= 10);
    while (n) say(digits[--n]);
}

static void say_hex(uint8_t nibble) { say(nibble < 10 ? '0' + nibble : 'a' + nibble - 10); }

static void begin_line(char kind) {
    line_crc = 0xFFFF;
    say(kind);
}

static void next_number(uint32_t value) {
    say(' ');
    say_number(value);
}

static void end_line(void) {
    uint16_t crc = line_crc;
    put('*');
    for (int8_t shift = 12; shift >= 0; shift -= 4) say_hex(crc >> shift & 15);
    put('\n');
}

/* -- the temple -- */

static struct ledger ledger;
static struct slot slots[2];
static struct limits limits = {3 * TICKS_PER_MS,   5 * TICKS_PER_MS,    250 * TICKS_PER_MS,
                               100 * TICKS_PER_MS, 1000 * TICKS_PER_MS, MOST_FLICKER};

static struct {
    uint32_t fell_ms;
    uint16_t width;
    uint8_t god, flags;
} queue[QUEUE];
static uint8_t queue_first, queue_number;
static uint32_t fell_ms[REMEMBERED], booted_with, writing_ms, flash_ms;

static bool listening, hello_due = true, refused;
static uint32_t next_seq, progress_ms, beat_ms, hello_ms;
static uint8_t told_beams[2];

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

static void fell(uint8_t god, const struct token *token) {
    uint32_t width = token->width / WIDTH_TICKS;
    uint8_t last = queue_first + queue_number;
    if (last >= QUEUE) last -= QUEUE;
    queue[last].fell_ms = now_ms() - (ticks() - token->start) / TICKS_PER_MS;
    queue[last].width = width < 65535 ? (uint16_t)width : 65535;
    queue[last].god = god;
    queue[last].flags = token->flags;
    queue_number++;
}

/* Two tokens may come of one round of this, so that many places are kept; edges wait in their own queue meanwhile. */
static void count(void) {
    struct edge edge;
    struct token token;
    while (queue_number < QUEUE - 2 && next_edge(&edge))
        if (slot_feed(&slots[edge.god], &limits, edge.at, edge.dark, &token)) fell(edge.god, &token);
    if (edges_number || queue_number >= QUEUE - 2) return;
    for (uint8_t god = 0; god < 2; god++) {
        if (edges_lost[god]) {
            /* What came after the loss is not known; the level now is. */
            cli();
            uint8_t lost = edges_lost[god];
            edges_lost[god] = 0;
            sei();
            slots[god].missed += lost;
            bool dark = is_dark(god);
            if (dark != slots[god].dark && slot_feed(&slots[god], &limits, ticks(), dark, &token)) {
                token.flags |= FLAG_MISSED_EDGE;
                fell(god, &token);
            }
        } else if (slot_advance(&slots[god], &limits, ticks(), &token)) {
            fell(god, &token);
        }
    }
}

static void record(void) {
    if (EECR & _BV(EEPE)) return;
    uint32_t before = ledger.seq;
    ledger_step(&ledger);
    if (ledger.seq != before) {
        fell_ms[ledger.seq % REMEMBERED] = writing_ms;
        flash_ms = now_ms();
    }
    if (!ledger_busy(&ledger) && queue_number) {
        writing_ms = queue[queue_first].fell_ms;
        ledger_append(&ledger, queue[queue_first].god, queue[queue_first].flags, queue[queue_first].width);
        if (++queue_first == QUEUE) queue_first = 0;
        queue_number--;
    }
}

static void say_hello(void) {
    begin_line('H');
    next_number(PROTOCOL);
    say(' ');
    if (ledger.named)
        for (uint8_t i = 0; i < NAME_BYTES; i++) {
            say_hex(ledger.name[i] >> 4);
            say_hex(ledger.name[i] & 15);
        }
    else
        say('-');
    say(' ');
    for (const char *c = SOFTWARE; *c; c++) say(*c);
    next_number(ledger.first);
    next_number(ledger.seq);
    next_number(ledger.acked);
    end_line();
}

static void say_health(void) {
    begin_line('B');
    for (uint8_t god = 0; god < 2; god++) {
        told_beams[god] = slots[god].beam;
        say(' ');
        say("ucjdf"[slots[god].beam]);
    }
    for (uint8_t god = 0; god < 2; god++) next_number(slot_glitches(&slots[god]));
    for (uint8_t god = 0; god < 2; god++) next_number(slots[god].missed);
    for (uint8_t god = 0; god < 2; god++) next_number(slots[god].dark);
    next_number(ledger.worn);
    end_line();
}

static void say_token(uint32_t seq) {
    struct kept kept;
    begin_line('T');
    next_number(seq);
    if (!ledger_read(seq, &kept)) { /* a cell has worn out: that it fell is known, and no more */
        say(' ');
        say('?');
        end_line();
        return;
    }
    say(' ');
    say(kept.god == TLALOC ? 't' : 'h');
    next_number(kept.flags);
    next_number((uint32_t)kept.width * (WIDTH_TICKS * 4));
    say(' ');
    if (seq > booted_with && ledger.seq - seq < REMEMBERED)
        say_number(now_ms() - fell_ms[seq % REMEMBERED]);
    else
        say('-');
    next_number(kept.huitzilopochtli);
    end_line();
}

static void speak(void) {
    uint32_t now = now_ms();
    if (room() < 80) return;
    if (refused) {
        refused = false;
        begin_line('E');
        end_line();
    } else if (hello_due || (!listening && now - hello_ms >= HEARTBEAT_MS)) {
        hello_due = false;
        hello_ms = now;
        say_hello();
    } else if (listening && next_seq <= ledger.seq && next_seq <= ledger.acked + WINDOW) {
        if (next_seq < ledger.first) next_seq = ledger.first;
        say_token(next_seq++);
    } else if (listening && ledger.acked + 1 < next_seq && now - progress_ms >= SILENCE_MS) {
        next_seq = ledger.acked + 1;
        progress_ms = now;
    } else if (now - beat_ms >= HEARTBEAT_MS ||
               (now - beat_ms >= CHANGE_MS &&
                (slots[0].beam != told_beams[0] || slots[1].beam != told_beams[1]))) {
        beat_ms = now;
        say_health();
    }
}

static const char *take_number(const char *text, uint32_t *value) {
    if (!text || *text++ != ' ' || *text < '0' || *text > '9') return 0;
    for (*value = 0; *text >= '0' && *text <= '9'; text++) {
        if (*value > 400000000UL) return 0;
        *value = *value * 10 + (*text - '0');
    }
    return text;
}

static uint8_t hex(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 255; }

static bool take_name(const char *text) {
    uint8_t name[NAME_BYTES];
    if (*text++ != ' ') return false;
    for (uint8_t i = 0; i < NAME_BYTES; i++, text += 2) {
        if (hex(text[0]) > 15 || hex(text[1]) > 15) return false;
        name[i] = hex(text[0]) << 4 | hex(text[1]);
    }
    if (*text) return false;
    if (!ledger_busy(&ledger)) {
        ledger_take_name(&ledger, name);
        while (ledger_busy(&ledger) && !ledger.worn) { /* once in a board's life: interrupts go on collecting edges */
            wdt_reset();
            if (!(EECR & _BV(EEPE))) ledger_step(&ledger);
        }
    }
    hello_due = true; /* if the record was busy the name is not taken, and is asked for again */
    return true;
}

static bool take_limits(const char *text) {
    uint32_t us[3], flicker;
    for (uint8_t i = 0; i < 3; i++) text = take_number(text, &us[i]);
    text = take_number(text, &flicker);
    if (!text || *text || flicker < 2 || us[0] < 100 || us[1] < 100 || us[2] <= us[0] || us[2] > 60000000UL)
        return false;
    limits.min_break = us[0] / 4;
    limits.min_clear = us[1] / 4;
    limits.max_break = us[2] / 4;
    limits.flicker = flicker < MOST_FLICKER ? (uint8_t)flicker : MOST_FLICKER;
    return true;
}

static bool obey(const char *line) {
    uint32_t seq;
    const char *end;
    switch (line[0]) {
    case '?':
        listening = false;
        hello_due = true;
        return !line[1];
    case 'A':
        end = take_number(line + 1, &seq);
        if (!end || *end) return false;
        if (!listening) {
            /* The other end says where it wants to go on: what it has, or what it never had. */
            listening = true;
            ledger.acked = seq <= ledger.seq ? seq : ledger.seq;
            next_seq = ledger.acked + 1;
        } else {
            ledger_acknowledge(&ledger, seq);
            if (next_seq <= ledger.acked) next_seq = ledger.acked + 1;
        }
        progress_ms = now_ms();
        return true;
    case 'I':
        return take_name(line + 1);
    case 'L':
        return take_limits(line + 1);
    }
    return false;
}

static void listen(void) {
    static char line[64];
    static uint8_t length;
    while (in_number) {
        cli();
        char c = in[in_first];
        in_first = (in_first + 1) % sizeof in;
        in_number--;
        sei();
        if (c != '\n') {
            if (length < sizeof line) line[length++] = c;
            continue;
        }
        uint8_t n = length;
        length = 0;
        uint16_t crc = 0xFFFF, sum = 0;
        bool well = n >= 6 && n < sizeof line && line[n - 5] == '*';
        for (uint8_t i = 0; well && i < n; i++)
            if (i < n - 5)
                crc = crc16(crc, line[i]);
            else if (i > n - 5)
                sum = sum << 4 | (hex(line[i]) & 15), well = hex(line[i]) < 16;
        if (well && crc == sum) {
            line[n - 5] = 0;
            refused = !obey(line);
        } else {
            refused = true;
        }
    }
}

/* A short flash at each token; slow while nobody listens; quick while a beam needs a hand. */
static void glow(void) {
    uint32_t now = now_ms();
    bool trouble = false;
    for (uint8_t god = 0; god < 2; god++) trouble |= slots[god].beam >= BEAM_JAMMED;
    bool lit = listening ? now - flash_ms < 60 : now % 2048 < 1024;
    if (trouble) lit = now % 256 < 128;
    if (lit)
        PORTB |= _BV(5);
    else
        PORTB &= ~_BV(5);
}

int main(void) {
    wdt_enable(WDTO_2S);
    DDRB |= _BV(5);
    HUITZ_PORT |= HUITZ_BIT; /* pull-ups */
    TLALOC_PORT |= TLALOC_BIT;
    UCSR0A = _BV(U2X0);
    UBRR0 = F_CPU / 8 / BAUD - 1;
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
    TCCR1B = _BV(CS11) | _BV(CS10);
    TIMSK1 = _BV(TOIE1);
    OCR2A = 249; /* 4 ms: 16 MHz / 256 / 250 */
    TCCR2A = _BV(WGM21);
    TCCR2B = _BV(CS22) | _BV(CS21);
    TIMSK2 = _BV(OCIE2A);
    ledger_open(&ledger);
    booted_with = ledger.seq;
    PCICR = HUITZ_GROUP | TLALOC_GROUP;
    HUITZ_MASK |= HUITZ_BIT;
    TLALOC_MASK |= TLALOC_BIT;
    for (uint8_t god = 0; god < 2; god++) slot_begin(&slots[god], is_dark(god), ticks());
    sei();
    set_sleep_mode(SLEEP_MODE_IDLE);
    for (;;) {
        wdt_reset();
        count();
        record();
        listen();
        speak();
        glow();
        cli();
        if (!edges_number && !in_number && !(ledger_busy(&ledger) && !(EECR & _BV(EEPE)))) {
            sleep_enable();
            sei(); /* the instruction after it still runs before any interrupt */
            sleep_cpu();
            sleep_disable();
        }
        sei();
    }
}
