/* A system clock that is CLOCK_AHEAD_SECONDS ahead, or behind when that is negative.
 *
 * Loaded into a process with LD_PRELOAD. The monotonic clock is left alone, as on a machine whose
 * clock was set wrong. It calls the kernel directly and allocates nothing. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    const char *ahead = getenv("CLOCK_AHEAD_SECONDS");
    if (!result && ahead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += atol(ahead);
    return result;
}
