/* A Uno on this machine: the firmware's own binary in simavr, its beams moved by a file, its line a pseudo-terminal.

   uno FIRMWARE EEPROM TIMELINE SPEED [LINK]

   TIMELINE holds lines in order of their time, in microseconds: "T h 0" (a pin and its level), "T P D" (the power goes
   for D microseconds), "T R" (a reset, and the boot loader), "T E" (the end), "0 W" (the chip waits for its reader: see
   `stalled`). SPEED is how many times faster than the
   clock on the wall it may run; 0 is as fast as it can. EEPROM is a file that outlives power cuts; memory outlives a
   reset. LINK becomes a symbolic link to the terminal: opening it resets the board, as the Uno's DTR line does, unless
   whoever closed it left DTR as it was; the timeline begins two seconds after the first time. After the end it goes on
   until its standard input ends, when there is a LINK; it ends with what it saw, in one line of JSON. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <simavr/avr_ioport.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#include "cells.h"

#define MHZ 16
#define BOOTLOADER_US 500000 /* how long Optiboot listens for a new program after a reset */
#define MEMORY 0x100
#define MEMORY_BYTES 2048
#define ANSWER_US 200000   /* how late a reader's answer may be on the chip's clock before a waiting chip stands still */
#define STALL_S 30         /* for so long at most: a reader that died must not hold the story up for ever */
#define QUIET_US 3000000   /* a board that owes nothing has said only how it is for so long: it resends after a second */
#define BOOTLOADER_STACK 64 /* of the memory, at its end: more than Optiboot uses */

static elf_firmware_t firmware;
static avr_t *avr;
static const char *eeprom_file;
static FILE *timeline;
static uint64_t base_us;      /* of this chip's life on the timeline */
static uint64_t start_us;     /* when the program runs, a bootloader after the power */
static int levels[2] = {1, 1}; /* Huitzilopochtli's D2, Tlaloc's D8 */
static int terminal = -1;
static bool listened, paused, over, dtr;
static unsigned long resets, sent, received;
static uint8_t memory[MEMORY_BYTES]; /* what it holds while the chip does not run */
static char line[128], health[128];  /* the one that is being sent, and the latest of the kind `B` */
static size_t line_length;
static char beams[4096]; /* the beams that such lines told, one pair after the other, where they changed */
static bool patient, said_over; /* see `stalled` */
static unsigned long told, acknowledged; /* the highest numbers of `T` and `A` lines */
static bool greeted;                     /* an `H` was sent, and no line has answered it */
static uint64_t answered_us, last_us;    /* when the reader last owed nothing or answered; when a line but `B` was sent */
static uint64_t due_us;
static uint64_t shift_us; /* when the timeline begins; with a LINK it waits for somebody to listen */
static bool begun_it;
static char due[32];
static bool due_there;

static void die(const char *what) {
    perror(what);
    exit(2);
}

static avr_irq_t *pin(int god) {
    return god ? avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('B'), 0)
               : avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('D'), 2);
}

/* A pin as its receiver holds it: what the program writes to the rest of the port does not change it. */
static void hold(int god) {
    avr_ioport_external_t outside = {.name = god ? 'B' : 'D', .mask = god ? 1 : 4, .value = 0};
    outside.value = levels[god] ? outside.mask : 0;
    avr_ioctl(avr, AVR_IOCTL_IOPORT_SET_EXTERNAL(outside.name), &outside);
    avr_raise_irq(pin(god), levels[god]);
}

static uint64_t now_us(void) { return avr ? base_us + avr->cycle / MHZ : base_us; }

static void keep_eeprom(bool power_fails) {
    uint8_t bytes[CELLS];
    cells_end(avr, bytes, power_fails);
    FILE *file = fopen(eeprom_file, "wb");
    if (!file || fwrite(bytes, 1, sizeof bytes, file) != sizeof bytes || fclose(file)) die(eeprom_file);
}

static void on_character(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq, (void)param;
    char c = (char)value;
    sent++;
    if (c != '\n') {
        if (line_length < sizeof line - 1) line[line_length++] = c;
    } else {
        line[line_length] = 0;
        line_length = 0;
        if (line[0] == 'B') {
            size_t length = strlen(beams);
            char pair[] = {length ? ' ' : 0, line[2], line[4], 0};
            const char *words = length ? pair : pair + 1;
            if ((!length || strcmp(beams + length - 2, pair + 1)) && length + 4 < sizeof beams) strcat(beams, words);
            strcpy(health, line);
        } else {
            last_us = now_us();
            if (!greeted && told <= acknowledged) answered_us = last_us;
            if (line[0] == 'T') {
                unsigned long seq = strtoul(line + 1, NULL, 10);
                if (seq > told) told = seq;
            } else if (line[0] == 'H') { /* the reader says anew from where it wants to go on */
                greeted = true;
                told = acknowledged = 0;
            }
        }
    }
    if (listened && write(terminal, &c, 1) != 1 && errno != EAGAIN) die("write");
}

static void on_pause(struct avr_irq_t *irq, uint32_t value, void *param) {
    (void)irq, (void)value;
    paused = param != NULL;
}

static void sleep_not(avr_t *which, avr_cycle_count_t cycles) { (void)which, (void)cycles; }

static void quiet(avr_t *which, const int level, const char *format, va_list list) {
    (void)which;
    if (level == LOG_ERROR) vfprintf(stderr, format, list);
}

static void power_up(void) {
    avr = avr_make_mcu_by_name("atmega328p");
    if (!avr) die("atmega328p");
    avr_init(avr);
    avr->frequency = MHZ * 1000000UL;
    avr_load_firmware(avr, &firmware);
    avr->frequency = MHZ * 1000000UL;
    avr->sleep = sleep_not;
    uint8_t bytes[CELLS];
    memset(bytes, 0xFF, sizeof bytes);
    FILE *file = fopen(eeprom_file, "rb");
    if (file) {
        if (fread(bytes, 1, sizeof bytes, file) != sizeof bytes) die(eeprom_file);
        fclose(file);
    }
    cells_begin(avr, bytes);
    memcpy(avr->data + MEMORY, memory, MEMORY_BYTES - BOOTLOADER_STACK);
    uint32_t flags = 0;
    avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), on_character, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XON), on_pause, NULL);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUT_XOFF), on_pause, &paused);
    for (int god = 0; god < 2; god++) hold(god);
    paused = false;
    resets++;
}

/* Stop the chip. Without power its memory becomes noise; through a reset it stays as it is. */
static void power_down(bool power_fails) {
    base_us = now_us();
    keep_eeprom(power_fails);
    memcpy(memory, avr->data + MEMORY, MEMORY_BYTES);
    for (size_t at = 0; power_fails && at < MEMORY_BYTES; at++) memory[at] ^= (uint8_t)((at + resets) * 167 >> 1 | 1);
    line_length = 0;
    avr_terminate(avr);
    free(avr);
    avr = NULL;
}

static void next_due(void) {
    char line[64];
    due_there = fgets(line, sizeof line, timeline) && sscanf(line, "%lu %31[^\n]", &due_us, due) == 2;
}

/* Do what the timeline says for now; the chip may be off. */
static void happen(void) {
    while (due_there && (due_us == 0 || (begun_it && due_us + shift_us <= now_us()))) {
        if (due[0] == 'E') {
            over = true;
        } else if (due[0] == 'W') {
            patient = true;
        } else if (due[0] == 'P') {
            start_us = due_us + shift_us + strtoull(due + 2, NULL, 10);
            if (avr) power_down(true);
        } else if (due[0] == 'R') {
            start_us = due_us + shift_us + BOOTLOADER_US;
            if (avr) power_down(false);
        } else {
            int god = due[0] == 't';
            levels[god] = due[2] == '1';
            if (avr) hold(god);
        }
        next_due();
    }
}

/* Keep a sleeping chip from sleeping past the next happening. It rings on until it is cancelled: a chip that falls
   asleep with the very instruction at which it rang would otherwise sleep to its own next timer, and miss edges. */
static avr_cycle_count_t alarm_rang(avr_t *which, avr_cycle_count_t when, void *param) {
    (void)which, (void)param;
    return when + 1;
}

/* Take a character of the reader's: its lines answer. */
static void note_answer(char c) {
    static char answer[64];
    static size_t length;
    if (c != '\n') {
        if (length < sizeof answer - 1) answer[length++] = c;
        return;
    }
    answer[length] = 0;
    length = 0;
    answered_us = now_us();
    if (answer[0] != 'A') return;
    greeted = false;
    acknowledged = strtoul(answer + 1, NULL, 10);
    if (told < acknowledged) told = acknowledged;
}

/* Whether the chip stands still until its reader answers. On a clock that is hurried, a reader that has to wait for a
   busy machine for a tenth of a second is late by half a second on the chip's clock: more tokens than the memory holds
   may fall meanwhile, which says nothing about either program. */
static bool stalled(void) {
    return patient && avr && listened && (greeted || told > acknowledged) && now_us() - answered_us > ANSWER_US;
}

static void look_at_terminal(void) {
    struct pollfd door = {.fd = terminal, .events = POLLIN};
    poll(&door, 1, 0);
    bool open = !(door.revents & POLLHUP);
    if (open != listened) {
        listened = open;
        if (open && avr && !dtr) { /* DTR falls: reset, and the bootloader first */
            power_down(false);
            start_us = base_us + BOOTLOADER_US;
            if (!begun_it) begun_it = true, shift_us = start_us + 2000000;
        }
        struct termios chosen;
        dtr = open || (tcgetattr(terminal, &chosen) == 0 && !(chosen.c_cflag & HUPCL));
        if (!open) tcflush(terminal, TCIOFLUSH);
    }
    char c;
    while (avr && !paused && (door.revents & POLLIN) && read(terminal, &c, 1) == 1) {
        received++;
        note_answer(c);
        avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT), (uint8_t)c);
        poll(&door, 1, 0);
    }
}

static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: uno FIRMWARE EEPROM TIMELINE SPEED [LINK]\n");
        return 2;
    }
    avr_global_logger_set(quiet);
    if (elf_read_firmware(argv[1], &firmware)) die(argv[1]);
    eeprom_file = argv[2];
    if (!(timeline = fopen(argv[3], "r"))) die(argv[3]);
    double speed = atof(argv[4]);
    if (argc > 5) {
        terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
        if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) die("posix_openpt");
        struct termios raw;
        int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
        tcgetattr(other, &raw);
        cfmakeraw(&raw);
        raw.c_cflag |= HUPCL; /* as a real port has it */
        tcsetattr(other, TCSANOW, &raw);
        close(other); /* from here on the terminal says whether somebody has it open */
        unlink(argv[5]);
        if (symlink(ptsname(terminal), argv[5])) die(argv[5]);
        fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    }
    begun_it = terminal < 0;
    next_due();
    power_up();
    double begun = wall(), stood_s = 0;
    uint64_t chunk_us = 0;
    for (;;) {
        if (!avr) { /* off, or in the bootloader, which counts nothing */
            uint64_t until = base_us + 1000;
            if (start_us < until) until = start_us;
            if (begun_it && due_there && due_us + shift_us < until) until = due_us + shift_us;
            if (until > base_us) base_us = until;
            happen();
            if (base_us >= start_us) power_up();
        } else {
            happen();
            if (avr) {
                uint64_t until = now_us() + 1000;
                if (begun_it && due_there && due_us + shift_us < until) until = due_us + shift_us;
                avr_cycle_count_t goal = (until - base_us) * MHZ;
                if (goal > avr->cycle) avr_cycle_timer_register(avr, goal - avr->cycle, alarm_rang, NULL);
                while (avr->cycle < goal) {
                    int state = avr_run(avr);
                    if (state == cpu_Done || state == cpu_Crashed) {
                        fprintf(stderr, "the chip stopped in state %d\n", state);
                        return 3;
                    }
                }
                avr_cycle_timer_cancel(avr, alarm_rang, NULL);
            }
        }
        if (now_us() - chunk_us < 1000) continue;
        chunk_us = now_us();
        if (terminal >= 0) {
            look_at_terminal();
            char c;
            if (read(STDIN_FILENO, &c, 1) == 0) break;
        }
        bool quiet = !greeted && told <= acknowledged && now_us() - last_us > QUIET_US;
        if (over && !said_over && (!patient || quiet)) {
            said_over = true;
            fprintf(stderr, "over\n");
        }
        if (over && terminal < 0) break;
        for (double from = wall(); stalled() && stood_s < STALL_S; stood_s += wall() - from, from = wall()) {
            usleep(1000);
            look_at_terminal();
        }
        /* After the end there is nothing to hurry for. */
        double pace = over && speed == 0 ? 1 : speed;
        if (pace > 0) {
            static double paced_from, paced_us;
            if (over && speed == 0 && !paced_from) paced_from = wall(), paced_us = chunk_us;
            double ahead = (paced_from ? paced_from : begun + stood_s) + (chunk_us - paced_us) / 1e6 / pace - wall();
            if (ahead > 0.002) usleep(ahead * 1e6);
        }
    }
    if (avr) keep_eeprom(terminal >= 0); /* a cable that is pulled has fed the board as well */
    printf("{\"us\": %lu, \"resets\": %lu, \"sent\": %lu, \"received\": %lu, \"written\": %lu, \"spoilt\": %lu, "
           "\"health\": \"%s\", \"beams\": \"%s\", \"wall_s\": %.3f}\n",
           now_us(), resets, sent, received, cells_written(), cells_spoilt(), health, beams, wall() - begun);
    return 0;
}
