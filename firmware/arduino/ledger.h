/* The board's record in 1,024 bytes of EEPROM: who it is, how many tokens fell, and the latest of them.

   It knows bytes and numbers; when a byte is written is the caller's business. Laws:
   - A token is recorded once its 14 bytes are written; until then, and after a power cut between any two of them, the
     record before it is the latest. No token is sent that is not recorded.
   - `seq` starts at 1, has no gaps and is never given twice, whatever is cut.
   - Records go round: each byte is written once in RECORDS tokens, and only where it changes.
   - A place with a cell that does not keep what is written is skipped, after some tries in each round, and there is
     room for one record less. The place of the latest record is never written to.
   - A mark says that every token so far is acknowledged. It lies where the next token will, in place of the oldest, and
     has the number of the latest and a checksum that no record has. Cut while it is written, it is not there, and
     neither it nor a cut changes what the latest record is. A byte is written twice in RECORDS tokens at most. */
#ifndef TEMPLO_LEDGER_H
#define TEMPLO_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#define LEDGER_BYTES 1024
#define NAME_BYTES 16
#define COPY_BYTES (2 + NAME_BYTES + 2)
#define RECORD_BYTES 14
#define MOST_WAITING 8191 /* the 5 bits beside god and flags, and a byte */
#define RECORDS ((LEDGER_BYTES - 2 * COPY_BYTES) / RECORD_BYTES)

enum { HUITZILOPOCHTLI, TLALOC };

struct kept {
    uint32_t seq;
    uint32_t huitzilopochtli; /* lifetime total with this token; the other god's is `seq` less it */
    uint16_t width;           /* 20 us each, and 65,535 for whatever is wider */
    uint8_t god : 1, flags : 2;
    uint16_t waiting; /* how many tokens before this one nobody had acknowledged, up to MOST_WAITING */
};

struct ledger {
    uint32_t seq, first, huitzilopochtli, acked;
    uint8_t name[NAME_BYTES];
    bool named;
    uint8_t bytes[2 * COPY_BYTES];
    uint8_t last, place; /* where the latest record is, and where the next or a mark is being written */
    uint16_t at;
    uint8_t next, length; /* of `bytes`, while something is being written */
    uint8_t tries;
    bool marked; /* the memory says that all of them are acknowledged */
    bool worn; /* no place keeps what is written: nothing more can be recorded */
    struct kept writing;
};

/* Read what is there. */
void ledger_open(struct ledger *ledger);

/* Whether something is still being written; nothing else may be begun until it is over. */
bool ledger_busy(const struct ledger *ledger);

/* Begin to record the next token, or to take a name. */
void ledger_append(struct ledger *ledger, uint8_t god, uint8_t flags, uint16_t width);
void ledger_take_name(struct ledger *ledger, const uint8_t *name);

/* Begin to write down that all tokens are acknowledged, if they are and the memory does not say so yet. */
void ledger_mark(struct ledger *ledger);

/* Write the next byte that differs, if there is one. The memory must be ready for it. */
void ledger_step(struct ledger *ledger);

/* Note that everything up to `seq` is safe elsewhere; it is written with the next token, or by a mark. */
void ledger_acknowledge(struct ledger *ledger, uint32_t seq);

/* Read a token from `first` to `seq`; false if it is not there any more. */
bool ledger_read(const struct ledger *ledger, uint32_t seq, struct kept *kept);

uint16_t crc16(uint16_t crc, uint8_t byte); /* CCITT, begun with 0xFFFF */

/* Given by the machine. A write may go on after `memory_write` returned. */
uint8_t memory_read(uint16_t at);
void memory_write(uint16_t at, uint8_t byte);

#endif
