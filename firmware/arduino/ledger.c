/* See ledger.h. A copy of the name is "TM", 16 bytes and their checksum, twice over; then come the records. */
#include "ledger.h"

#include <string.h>

#define MOST_TRIES 5
#define MARK 0x4D4B /* by this the checksum of a mark differs from that of a record */

uint16_t crc16(uint16_t crc, uint8_t byte) {
    crc ^= (uint16_t)byte << 8;
    for (uint8_t bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (uint16_t)(crc << 1) ^ 0x1021 : (uint16_t)(crc << 1);
    return crc;
}

static uint16_t sum(const uint8_t *bytes, uint8_t length) {
    uint16_t crc = 0xFFFF;
    while (length--) crc = crc16(crc, *bytes++);
    return crc;
}

static void seal(uint8_t *bytes, uint8_t length, uint16_t as) {
    uint16_t crc = sum(bytes, length) ^ as;
    bytes[length] = crc & 0xFF;
    bytes[length + 1] = crc >> 8;
}

/* Return what bytes were sealed as; nothing else that was written whole has that value. */
static uint16_t sealed_as(const uint8_t *bytes, uint8_t length) {
    return sum(bytes, length) ^ (uint16_t)(bytes[length] | bytes[length + 1] << 8);
}

static void fetch(uint16_t at, uint8_t *bytes, uint8_t length) {
    while (length--) *bytes++ = memory_read(at++);
}

static uint16_t address(uint8_t place) { return 2 * COPY_BYTES + (uint16_t)place * RECORD_BYTES; }

static uint8_t after(uint8_t place) { return place + 1 < RECORDS ? place + 1 : 0; }

static uint32_t number(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_number(uint8_t *bytes, uint32_t value) {
    for (uint8_t i = 0; i < 4; i++, value >>= 8) bytes[i] = value & 0xFF;
}

/* Read a record; returns 0, or MARK and its number alone, or something else where neither is whole. */
static uint16_t read_place(uint8_t place, struct kept *kept) {
    uint8_t bytes[RECORD_BYTES];
    fetch(address(place), bytes, RECORD_BYTES);
    kept->seq = number(bytes);
    kept->huitzilopochtli = number(bytes + 4);
    kept->width = bytes[8] | (uint16_t)bytes[9] << 8;
    kept->god = bytes[10] & 1;
    kept->flags = bytes[10] >> 1 & 3;
    kept->waiting = bytes[11] | (uint16_t)(bytes[10] >> 3) << 8;
    return sealed_as(bytes, RECORD_BYTES - 2);
}

bool ledger_read(const struct ledger *ledger, uint32_t seq, struct kept *kept) {
    uint8_t bytes[4], back = (ledger->seq - seq) % RECORDS, place = ledger->last;
    place = place >= back ? place - back : place + RECORDS - back;
    /* It is there, or further back by as many places as were skipped behind it. */
    for (uint8_t most = RECORDS; most; most--) {
        fetch(address(place), bytes, sizeof bytes);
        if (number(bytes) == seq && read_place(place, kept) == 0) return true;
        place = place ? place - 1 : RECORDS - 1;
    }
    return false;
}

static bool copy(uint8_t which, uint8_t *bytes) {
    fetch(which * COPY_BYTES, bytes, COPY_BYTES);
    return bytes[0] == 'T' && bytes[1] == 'M' && sealed_as(bytes, COPY_BYTES - 2) == 0;
}

void ledger_open(struct ledger *ledger) {
    struct kept kept;
    uint8_t bytes[COPY_BYTES];
    uint32_t marked = 0;
    memset(ledger, 0, sizeof *ledger);
    for (uint8_t place = 0; place < RECORDS; place++) {
        uint16_t as = read_place(place, &kept);
        if (as == 0 && kept.seq > ledger->seq) {
            ledger->last = place;
            ledger->seq = kept.seq;
            ledger->huitzilopochtli = kept.huitzilopochtli;
            ledger->acked = kept.seq - 1 < kept.waiting ? 0 : kept.seq - 1 - kept.waiting;
        } else if (as == MARK && kept.seq > marked) {
            marked = kept.seq;
        }
    }
    ledger->marked = ledger->seq && marked == ledger->seq;
    if (ledger->marked) ledger->acked = ledger->seq;
    ledger->first = ledger->seq + 1;
    while (ledger->first > 1 && ledger->seq + 1 - ledger->first < RECORDS &&
           ledger_read(ledger, ledger->first - 1, &kept))
        ledger->first--;
    /* A name is written copy by copy: cut in the first, the second still has the old one. */
    for (uint8_t which = 0; which < 2 && !ledger->named; which++)
        if (copy(which, bytes)) {
            ledger->named = true;
            memcpy(ledger->name, bytes + 2, NAME_BYTES);
        }
}

bool ledger_busy(const struct ledger *ledger) { return ledger->next < ledger->length; }

/* Begin to write the bytes of a record or a mark into a place: what is there is given up with the first of them. */
static void write_into(struct ledger *ledger, uint8_t place) {
    struct kept kept;
    if (read_place(place, &kept) == 0 && kept.seq >= ledger->first && kept.seq <= ledger->seq)
        ledger->first = kept.seq + 1;
    ledger->place = place;
    ledger->at = address(place);
    ledger->next = 0;
    ledger->length = RECORD_BYTES;
}

void ledger_append(struct ledger *ledger, uint8_t god, uint8_t flags, uint16_t width) {
    uint32_t waiting = ledger->seq - ledger->acked;
    struct kept kept = {
        .seq = ledger->seq + 1,
        .huitzilopochtli = ledger->huitzilopochtli + (god == HUITZILOPOCHTLI),
        .width = width,
        .god = god,
        .flags = flags,
        .waiting = waiting < MOST_WAITING ? (uint16_t)waiting : MOST_WAITING,
    };
    ledger->writing = kept;
    put_number(ledger->bytes, kept.seq);
    put_number(ledger->bytes + 4, kept.huitzilopochtli);
    ledger->bytes[8] = width & 0xFF;
    ledger->bytes[9] = width >> 8;
    ledger->bytes[10] = (uint8_t)(kept.waiting >> 8 << 3) | (uint8_t)(flags << 1) | god;
    ledger->bytes[11] = kept.waiting & 0xFF;
    seal(ledger->bytes, RECORD_BYTES - 2, 0);
    write_into(ledger, after(ledger->last));
}

void ledger_mark(struct ledger *ledger) {
    if (ledger->marked || ledger->acked != ledger->seq || !ledger->seq) return;
    /* Of the oldest record only the number and the checksum change. */
    fetch(address(after(ledger->last)), ledger->bytes, RECORD_BYTES);
    put_number(ledger->bytes, ledger->seq);
    seal(ledger->bytes, RECORD_BYTES - 2, MARK);
    ledger->writing.seq = ledger->seq;
    ledger->writing.huitzilopochtli = ledger->huitzilopochtli;
    write_into(ledger, after(ledger->last));
}

void ledger_take_name(struct ledger *ledger, const uint8_t *name) {
    ledger->bytes[0] = 'T';
    ledger->bytes[1] = 'M';
    memcpy(ledger->bytes + 2, name, NAME_BYTES);
    seal(ledger->bytes, COPY_BYTES - 2, 0);
    memcpy(ledger->bytes + COPY_BYTES, ledger->bytes, COPY_BYTES);
    ledger->writing.seq = 0;
    ledger->at = 0;
    ledger->next = 0;
    ledger->length = 2 * COPY_BYTES;
}

/* Go on behind a cell that does not keep what is written. */
static void skip(struct ledger *ledger) {
    uint8_t bytes[COPY_BYTES];
    ledger->tries = 0;
    if (ledger->writing.seq) {
        uint8_t place = after(ledger->place);
        if (place == ledger->last) { /* which stays, so that no number is given twice */
            ledger->worn = true;
            place = after(place);
        }
        write_into(ledger, place);
    } else if (ledger->next < COPY_BYTES) {
        ledger->next = COPY_BYTES;
    } else if (copy(0, bytes) && !memcmp(bytes, ledger->bytes, COPY_BYTES)) {
        ledger->next = ledger->length - 1;
        ledger->bytes[ledger->next] = memory_read(ledger->at + ledger->next); /* one copy is enough */
    } else {
        ledger->worn = true;
        ledger->next = 0;
    }
}

void ledger_step(struct ledger *ledger) {
    while (ledger_busy(ledger)) {
        uint16_t at = ledger->at + ledger->next;
        uint8_t byte = ledger->bytes[ledger->next];
        if (memory_read(at) != byte) {
            /* `next` stays: what was written is read back before it counts. */
            if (ledger->tries == MOST_TRIES) {
                skip(ledger);
                return;
            }
            ledger->tries++;
            memory_write(at, byte);
            return;
        }
        ledger->next++;
        ledger->tries = 0;
        if (ledger_busy(ledger)) continue;
        ledger->worn = false;
        if (ledger->writing.seq) {
            ledger->marked = ledger->writing.seq == ledger->seq;
            if (!ledger->marked) ledger->last = ledger->place;
            ledger->seq = ledger->writing.seq;
            ledger->huitzilopochtli = ledger->writing.huitzilopochtli;
            if (ledger->first > ledger->seq) ledger->first = ledger->seq;
        } else {
            memcpy(ledger->name, ledger->bytes + 2, NAME_BYTES);
            ledger->named = true;
        }
    }
}

void ledger_acknowledge(struct ledger *ledger, uint32_t seq) {
    if (seq > ledger->seq) seq = ledger->seq;
    if (seq > ledger->acked) ledger->acked = seq;
}
