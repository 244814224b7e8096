/* See ledger.h. A copy of the name is "TM", 16 bytes and their checksum, twice over; then come the records. */
#include "ledger.h"

#include <string.h>

#define MOST_TRIES 5

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

static void seal(uint8_t *bytes, uint8_t length) {
    uint16_t crc = sum(bytes, length);
    bytes[length] = crc & 0xFF;
    bytes[length + 1] = crc >> 8;
}

static bool sealed(const uint8_t *bytes, uint8_t length) {
    return sum(bytes, length) == (uint16_t)(bytes[length] | bytes[length + 1] << 8);
}

static void fetch(uint16_t at, uint8_t *bytes, uint8_t length) {
    while (length--) *bytes++ = memory_read(at++);
}

static uint16_t place(uint32_t seq) { return 2 * COPY_BYTES + (uint16_t)(seq % RECORDS) * RECORD_BYTES; }

static uint32_t number(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void put_number(uint8_t *bytes, uint32_t value) {
    for (uint8_t i = 0; i < 4; i++, value >>= 8) bytes[i] = value & 0xFF;
}

static bool read_place(uint8_t index, struct kept *kept) {
    uint8_t bytes[RECORD_BYTES];
    fetch(place(index), bytes, RECORD_BYTES);
    if (!sealed(bytes, RECORD_BYTES - 2)) return false;
    kept->seq = number(bytes);
    kept->huitzilopochtli = number(bytes + 4);
    kept->width = bytes[8] | (uint16_t)bytes[9] << 8;
    kept->god = bytes[10] & 1;
    kept->flags = bytes[10] >> 1 & 3;
    kept->waiting = bytes[11] | (uint16_t)(bytes[10] >> 3) << 8;
    return kept->seq != 0 && kept->seq % RECORDS == index;
}

bool ledger_read(uint32_t seq, struct kept *kept) {
    return read_place(seq % RECORDS, kept) && kept->seq == seq;
}

static bool is_marked(const struct ledger *ledger) {
    uint8_t bytes[RECORD_BYTES];
    fetch(place(ledger->seq + 1), bytes, RECORD_BYTES);
    return ledger->seq && number(bytes) == ledger->seq && sealed(bytes, RECORD_BYTES - 2);
}

static bool copy(uint8_t which, uint8_t *bytes) {
    fetch(which * COPY_BYTES, bytes, COPY_BYTES);
    return bytes[0] == 'T' && bytes[1] == 'M' && sealed(bytes, COPY_BYTES - 2);
}

void ledger_open(struct ledger *ledger) {
    struct kept kept;
    uint8_t bytes[COPY_BYTES];
    memset(ledger, 0, sizeof *ledger);
    for (uint8_t index = 0; index < RECORDS; index++)
        if (read_place(index, &kept) && kept.seq > ledger->seq) {
            ledger->seq = kept.seq;
            ledger->huitzilopochtli = kept.huitzilopochtli;
            ledger->acked = kept.seq - 1 < kept.waiting ? 0 : kept.seq - 1 - kept.waiting;
        }
    ledger->marked = is_marked(ledger);
    if (ledger->marked) ledger->acked = ledger->seq;
    ledger->first = ledger->seq + 1;
    while (ledger->first > 1 && ledger->seq + 1 - ledger->first < RECORDS && ledger_read(ledger->first - 1, &kept))
        ledger->first--;
    /* A name is written copy by copy: cut in the first, the second still has the old one. */
    for (uint8_t which = 0; which < 2 && !ledger->named; which++)
        if (copy(which, bytes)) {
            ledger->named = true;
            memcpy(ledger->name, bytes + 2, NAME_BYTES);
        }
}

bool ledger_busy(const struct ledger *ledger) { return ledger->next < ledger->length; }

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
    seal(ledger->bytes, RECORD_BYTES - 2);
    ledger->at = place(kept.seq);
    /* The oldest is given up with the first byte that is written over it. */
    if (ledger->first + RECORDS == kept.seq) ledger->first++;
    ledger->next = 0;
    ledger->length = RECORD_BYTES;
}

void ledger_mark(struct ledger *ledger) {
    if (ledger->marked || ledger->acked != ledger->seq || !ledger->seq) return;
    fetch(place(ledger->seq + 1), ledger->bytes, RECORD_BYTES); /* of the oldest record only the number changes */
    put_number(ledger->bytes, ledger->seq);
    seal(ledger->bytes, RECORD_BYTES - 2);
    ledger->writing.seq = ledger->seq;
    ledger->writing.huitzilopochtli = ledger->huitzilopochtli;
    ledger->at = place(ledger->seq + 1);
    if (ledger->first + RECORDS == ledger->seq + 1) ledger->first++;
    ledger->next = 0;
    ledger->length = RECORD_BYTES;
}

void ledger_take_name(struct ledger *ledger, const uint8_t *name) {
    ledger->bytes[0] = 'T';
    ledger->bytes[1] = 'M';
    memcpy(ledger->bytes + 2, name, NAME_BYTES);
    seal(ledger->bytes, COPY_BYTES - 2);
    memcpy(ledger->bytes + COPY_BYTES, ledger->bytes, COPY_BYTES);
    ledger->writing.seq = 0;
    ledger->at = 0;
    ledger->next = 0;
    ledger->length = 2 * COPY_BYTES;
}

void ledger_step(struct ledger *ledger) {
    while (ledger_busy(ledger)) {
        uint16_t at = ledger->at + ledger->next;
        uint8_t byte = ledger->bytes[ledger->next];
        if (memory_read(at) != byte) {
            /* `next` stays: what was written is read back before it counts. */
            ledger->worn = ledger->tries == MOST_TRIES;
            if (!ledger->worn) ledger->tries++;
            memory_write(at, byte);
            return;
        }
        ledger->next++;
        ledger->tries = 0;
        ledger->worn = false;
        if (ledger_busy(ledger)) continue;
        if (ledger->writing.seq) {
            ledger->marked = ledger->writing.seq == ledger->seq;
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
