/* See counting.h. Each function is the one of the same name in controller/core/counting.py; a test holds them together
   over random trains. */
#include "counting.h"

static bool since(uint32_t from, uint32_t now, uint32_t least) {
    int32_t passed = (int32_t)(now - from); /* an edge may be stamped a little before the clock was last asked */
    return passed >= 0 && (uint32_t)passed >= least;
}

static bool emit(struct slot *slot, uint32_t width, uint8_t flags, struct token *token) {
    slot->reported = true;
    token->start = slot->start;
    token->width = width;
    token->flags = flags | (slot->spell_missed ? FLAG_MISSED_EDGE : 0);
    return true;
}

static bool close(struct slot *slot, const struct limits *limits, struct token *token) {
    uint32_t width = slot->end - slot->start;
    bool counted = !slot->reported && width >= limits->min_break && emit(slot, width, 0, token);
    slot->spell = SPELL_CLOSED;
    if (slot->beam == BEAM_JAMMED || slot->beam == BEAM_DARK) slot->beam = BEAM_CLEAR;
    return counted;
}

static bool run(struct slot *slot, const struct limits *limits, uint32_t now, uint32_t patience,
                struct token *token) {
    bool counted = false;
    if (slot->spell == SPELL_DARK) {
        if (!slot->hollow && slot->stuck == BEAM_UNPROVED &&
            since(slot->start, now, limits->max_break + patience)) {
            slot->stuck = BEAM_JAMMED;
            if (!slot->reported) counted = emit(slot, now - slot->start, FLAG_JAM, token);
            slot->beam = BEAM_JAMMED;
        }
    } else if (slot->spell == SPELL_QUIET && since(slot->end, now, limits->min_clear)) {
        counted = close(slot, limits, token);
    }
    if (slot->beam == BEAM_FLICKER && since(slot->calm, now, 0)) {
        if (slot->dark && slot->spell != SPELL_NONE) {
            slot->stuck = BEAM_JAMMED;
            slot->beam = BEAM_JAMMED;
        } else {
            slot->beam = BEAM_CLEAR;
        }
    }
    return counted;
}

/* Give up the latest spell for a later one: from here on nothing can lengthen it. */
static void settle(struct slot *slot) {
    if (!slot->reported && (slot->spell == SPELL_QUIET || slot->spell == SPELL_CLOSED)) slot->glitches++;
    slot->spell = SPELL_NONE;
}

static void begin_spell(struct slot *slot, uint32_t at) {
    slot->start = at;
    slot->spell = SPELL_DARK;
    slot->stuck = BEAM_UNPROVED;
    slot->reported = slot->hollow = slot->spell_missed = false;
}

static bool darken(struct slot *slot, const struct limits *limits, uint32_t at, bool repeated, bool missed,
                   struct token *token) {
    if (repeated) {
        if (slot->spell != SPELL_NONE) slot->spell_missed |= missed;
        return false;
    }
    if ((slot->spell == SPELL_QUIET || slot->spell == SPELL_CLOSED) && !since(slot->end, at, limits->min_clear)) {
        slot->spell = SPELL_DARK;
        if (slot->stuck != BEAM_UNPROVED) slot->beam = slot->stuck;
        return run(slot, limits, at, 0, token);
    }
    settle(slot);
    begin_spell(slot, at);
    slot->starts[(slot->first + slot->number++) % (MOST_FLICKER + 1)] = at;
    while (since(slot->starts[slot->first], at, limits->second)) {
        slot->first = (slot->first + 1) % (MOST_FLICKER + 1);
        slot->number--;
    }
    while (slot->number > limits->flicker) {
        slot->first = (slot->first + 1) % (MOST_FLICKER + 1);
        slot->number--;
        slot->calm = at + limits->second;
        slot->flickers = true;
    }
    if (slot->flickers && !since(slot->calm, at, 0)) {
        slot->reported = slot->hollow = true;
        slot->beam = BEAM_FLICKER;
    }
    return false;
}

static void clear(struct slot *slot, const struct limits *limits, uint32_t at, bool repeated, bool missed) {
    if (slot->spell == SPELL_NONE) return;
    if (repeated) {
        if (slot->spell == SPELL_DARK || since(slot->end, at, limits->min_clear)) return;
        slot->spell_missed |= missed;
    }
    slot->spell = SPELL_QUIET;
    slot->end = at;
}

void slot_begin(struct slot *slot, bool dark, uint32_t now) {
    *slot = (struct slot){.dark = dark, .fresh = true, .starting = true, .start = now, .end = now, .calm = now};
    slot->beam = dark ? BEAM_DARK : BEAM_UNPROVED;
    if (dark) {
        slot->spell = SPELL_DARK;
        slot->stuck = BEAM_DARK;
        slot->reported = slot->hollow = true;
    }
}

bool slot_feed(struct slot *slot, const struct limits *limits, uint32_t at, bool dark, struct token *token) {
    if (slot->starting && since(slot->calm, at, limits->second)) slot->fresh = false;
    bool repeated = dark == slot->dark, missed = repeated && !slot->fresh;
    slot->fresh = slot->starting = false;
    if (slot->beam == BEAM_UNPROVED) slot->beam = BEAM_CLEAR;
    slot->missed += missed;
    bool counted = run(slot, limits, at, 0, token);
    if (dark)
        counted |= darken(slot, limits, at, repeated, missed, token);
    else
        clear(slot, limits, at, repeated, missed);
    slot->dark = dark;
    if (slot->flickers && !since(slot->calm, at, 0)) slot->calm = at + limits->second;
    return counted;
}

bool slot_resync(struct slot *slot, const struct limits *limits, uint32_t at, bool dark, struct token *token) {
    if (dark == slot->dark) return false;
    bool counted = run(slot, limits, at, 0, token);
    slot->missed++;
    slot->dark = dark;
    if (slot->spell != SPELL_NONE && !slot->reported) {
        slot->spell_missed = true;
        if (slot->spell == SPELL_DARK) slot->end = at;
        counted |= close(slot, limits, token);
    }
    settle(slot);
    if (dark) {
        begin_spell(slot, at);
        slot->stuck = slot->beam = BEAM_DARK;
        slot->reported = slot->hollow = true;
    } else {
        slot->beam = BEAM_UNPROVED;
    }
    return counted;
}

void slot_lose(struct slot *slot, uint8_t number) {
    slot->missed += number;
    slot->fresh = true;
    slot->starting = false;
    if (number && slot->spell != SPELL_NONE) slot->spell_missed = true;
}

bool slot_advance(struct slot *slot, const struct limits *limits, uint32_t now, struct token *token) {
    bool counted = run(slot, limits, now, limits->patience, token);
    /* What is older than any late edge is forgotten, so that no time is compared with one from before a wrap. */
    if (slot->spell == SPELL_CLOSED && since(slot->end, now, 2 * limits->second)) settle(slot);
    if (slot->flickers && slot->beam != BEAM_FLICKER && since(slot->calm, now, limits->second))
        slot->flickers = false;
    while (slot->number && since(slot->starts[slot->first], now, 2 * limits->second)) {
        slot->first = (slot->first + 1) % (MOST_FLICKER + 1);
        slot->number--;
    }
    return counted;
}

uint16_t slot_glitches(const struct slot *slot) {
    return slot->glitches + (slot->spell == SPELL_CLOSED && !slot->reported);
}
