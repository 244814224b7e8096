/* Plays a plan onto the kernel's simulated lines and logs the time before and after each write, for an oracle that
 * shares nothing with the controller.
 *
 * usage: oracle CHIP PLAN LOG    CHIP: the folder of the simulated chip, with its folders sim_gpioN
 *
 * A line of the plan: how long to wait after the write before, in microseconds; the line; 1 for dark, 0 for clear.
 * Waits are relative to the write before, so a machine that stands still makes spells and gaps longer, never shorter.
 * The log begins with the wall clock and the monotonic clock at one moment; times are in nanoseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LINES 28

static long long now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

int main(int count, char **words)
{
    int pulls[LINES] = {0};
    long wait_us;
    int line, dark;
    if (count != 4)
        return fprintf(stderr, "usage: oracle CHIP PLAN LOG\n"), 2;
    FILE *plan = fopen(words[2], "r"), *log = fopen(words[3], "w");
    if (!plan || !log)
        return perror("the plan or the log"), 1;
    fprintf(log, "%lld %lld\n", now(CLOCK_REALTIME), now(CLOCK_MONOTONIC));
    long long last = now(CLOCK_MONOTONIC);
    while (fscanf(plan, "%ld %d %d", &wait_us, &line, &dark) == 3) {
        if (line < 0 || line >= LINES)
            return fprintf(stderr, "line %d: expected 0 to %d\n", line, LINES - 1), 1;
        if (!pulls[line]) {
            char path[256];
            snprintf(path, sizeof path, "%s/sim_gpio%d/pull", words[1], line);
            if ((pulls[line] = open(path, O_WRONLY)) < 0)
                return perror(path), 1;
        }
        long long until = last + wait_us * 1000LL;
        struct timespec at = {until / 1000000000LL, until % 1000000000LL};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        long long before = now(CLOCK_MONOTONIC);
        if (dark ? pwrite(pulls[line], "pull-down", 9, 0) != 9 : pwrite(pulls[line], "pull-up", 7, 0) != 7)
            return perror("pull"), 1;
        last = now(CLOCK_MONOTONIC);
        fprintf(log, "%lld %lld %d %d\n", before, last, line, dark);
    }
    return fclose(log) ? 1 : 0;
}
