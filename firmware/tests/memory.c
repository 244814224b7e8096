/* An EEPROM that is an array, whose power fails after `budget` bytes more, or within the next; and what a test may see
   of the ledger. */
#include "../arduino/ledger.h"

#include <string.h>

uint8_t cells[LEDGER_BYTES];
uint32_t writes[LEDGER_BYTES];
uint8_t stuck[LEDGER_BYTES]; /* the bits of each cell that stay ones */
long budget = -1;
int spoil = -1; /* the bits that rise in the byte within which the power fails; negative where it fails between two */
static struct ledger ledger;

uint8_t memory_read(uint16_t at) { return cells[at]; }

void memory_write(uint16_t at, uint8_t byte) {
    if (budget == 0) {
        if (spoil >= 0) cells[at] |= (uint8_t)spoil;
        spoil = -1;
        return;
    }
    if (budget > 0) budget--;
    cells[at] = byte | stuck[at];
    writes[at]++;
}

static bool finish(void) {
    while (ledger_busy(&ledger)) {
        if ((budget == 0 && spoil < 0) || ledger.worn) return false;
        ledger_step(&ledger);
    }
    return true;
}

void probe_open(void) { ledger_open(&ledger); }
uint32_t probe_seq(void) { return ledger.seq; }
uint32_t probe_first(void) { return ledger.first; }
bool probe_worn(void) { return ledger.worn; }
uint32_t probe_acked(void) { return ledger.acked; }
uint32_t probe_huitzilopochtli(void) { return ledger.huitzilopochtli; }

bool probe_append(uint8_t god, uint8_t flags, uint16_t width) {
    ledger_append(&ledger, god, flags, width);
    return finish();
}

/* The width of a token, or 0 where it cannot be read. */
uint16_t probe_width(uint32_t seq) {
    struct kept kept;
    return ledger_read(&ledger, seq, &kept) ? kept.width : 0;
}

void probe_acknowledge(uint32_t seq) { ledger_acknowledge(&ledger, seq); }

bool probe_mark(void) {
    ledger_mark(&ledger);
    return finish();
}

void probe_name(const uint8_t *name) {
    ledger_open(&ledger);
    ledger_take_name(&ledger, name);
    finish();
}

bool probe_read_name(uint8_t *name) {
    ledger_open(&ledger);
    memset(name, 0, NAME_BYTES + 1);
    memcpy(name, ledger.name, NAME_BYTES);
    return ledger.named;
}
