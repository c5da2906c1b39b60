/* Makes every sync take SYNC_US microseconds longer, as on a disk that is further away. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

typedef int sync_t(int);

int fsync(int file) {
    usleep(SYNC_US);
    return ((sync_t *)dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
    usleep(SYNC_US);
    return ((sync_t *)dlsym(RTLD_NEXT, "fdatasync"))(file);
}
