/* How long ago the latest tokens fell, for as long as a clock that wraps round can say it. */
#ifndef TEMPLO_AGES_H
#define TEMPLO_AGES_H

#include <stdbool.h>
#include <stdint.h>

/* Nothing is known of the tokens up to this number. */
void ages_begin(uint32_t seq);

/* Note when the next token fell, in milliseconds; one of which nothing is known stays so. */
void ages_add(uint32_t seq, uint32_t fell_ms);

/* Forget what fell too long ago. It must run several times a day. */
void ages_pass(uint32_t now_ms);

/* How long ago a token fell; false if that is not known. */
bool ages_of(uint32_t seq, uint32_t now_ms, uint32_t *age_ms);

#endif
