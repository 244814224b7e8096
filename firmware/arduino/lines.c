/* See lines.h. A line is said only where there is room for all of it, so that nothing waits for a reader. */
#include "lines.h"

#include "ages.h"
#include "clock.h"
#include "ledger.h"
#include "pins.h"
#include "record.h"
#include "serial.h"
#include "tally.h"

#define WINDOW 8
#define LONGEST 80 /* characters of an `H` with numbers of nine digits; no other line is longer */
#define HEARTBEAT_MS 1000
#define CHANGE_MS 200
#define SILENCE_MS 1000

static bool listening, hello_due = true, refused;
static uint32_t next_seq, progress_ms, beat_ms, hello_ms;
static uint8_t sent_beams[2];

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
        sent_beams[god] = slots[god].beam;
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
    uint32_t age_ms;
    begin_line('T');
    next_number(seq);
    if (!ledger_read(&ledger, seq, &kept)) { /* a cell has lost what it held: that it fell is known, and no more */
        say(' ');
        say('?');
        end_line();
        return;
    }
    say(' ');
    say(kept.god == TLALOC ? 't' : 'h');
    next_number(kept.flags);
    next_number((uint32_t)kept.width * (WIDTH_TICKS * TICK_US));
    say(' ');
    if (ages_of(seq, now_ms(), &age_ms))
        say_number(age_ms);
    else
        say('-');
    next_number(kept.huitzilopochtli);
    end_line();
}

void speak(void) {
    uint32_t now = now_ms();
    if (room() < LONGEST) return;
    if (refused) {
        refused = false;
        begin_line('E');
        end_line();
    } else if (!record_naming() && (hello_due || (!listening && now - hello_ms >= HEARTBEAT_MS))) {
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
                (slots[0].beam != sent_beams[0] || slots[1].beam != sent_beams[1]))) {
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
    record_name(name);
    listening = false; /* nothing is sent under the old name any more */
    hello_due = true;
    return true;
}

static bool take_limits(const char *text) {
    uint32_t us[3], flicker;
    for (uint8_t i = 0; i < 3; i++) text = take_number(text, &us[i]);
    text = take_number(text, &flicker);
    if (!text || *text || flicker < 2 || us[0] < 100 || us[1] < 100 || us[2] <= us[0] || us[2] > 60000000UL)
        return false;
    limits.min_break = us[0] / TICK_US;
    limits.min_clear = us[1] / TICK_US;
    limits.max_break = us[2] / TICK_US;
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
        if (record_naming()) return true; /* it was said to the board of another name */
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

void listen(void) {
    static char line[64];
    static uint8_t length;
    char c;
    while (take(&c)) {
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

bool listened(void) { return listening; }
