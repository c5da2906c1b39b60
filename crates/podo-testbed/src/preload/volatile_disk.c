/* A disk that keeps only what was synced.
 *
 * Loaded into a process with LD_PRELOAD. Files below VOLATILE_DISK are written as usual; what a
 * successful fsync or fdatasync covers is copied to the file of the same name below SURVIVING_DISK.
 * After the process is killed, that folder has what a power cut would have left. With
 * VOLATILE_DISK_LIES set, a sync reports success and keeps nothing.
 *
 * It calls the kernel directly and allocates nothing: the allocator of the process is not its
 * business. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES_MAX 64
#define PATH_MAX_HERE 1024

/* A file and the range that was written since its last sync. */
struct tracked {
    dev_t device;
    ino_t inode;
    char surviving[PATH_MAX_HERE];
    off_t dirty_from, dirty_to;
};

static struct tracked files[FILES_MAX];
static int n_files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Held while a sync is copied: another sync of the same bytes must not return before they are kept. */
static pthread_mutex_t copying = PTHREAD_MUTEX_INITIALIZER;

static void name_descriptor(int fd, char *link) {
    link = stpcpy(link, "/proc/self/fd/");
    for (int power = 100000; power; power /= 10)
        if (fd >= power || power == 1) *link++ = '0' + fd / power % 10;
    *link = 0;
}

/* The caller holds the lock. Nothing for files elsewhere. */
static struct tracked *find(int fd) {
    const char *root = getenv("VOLATILE_DISK"), *survives = getenv("SURVIVING_DISK");
    struct stat about;
    if (!root || !survives || fstat(fd, &about) || !S_ISREG(about.st_mode)) return NULL;
    for (int i = 0; i < n_files; i++)
        if (files[i].device == about.st_dev && files[i].inode == about.st_ino) return &files[i];
    char link[64], path[PATH_MAX_HERE];
    name_descriptor(fd, link);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    size_t root_length = strlen(root);
    if (length < 0 || strncmp(path, root, root_length) || path[root_length] != '/') return NULL;
    path[length] = 0;
    if (n_files == FILES_MAX) abort();
    struct tracked *file = &files[n_files++];
    *file = (struct tracked){.device = about.st_dev, .inode = about.st_ino};
    if (strlen(survives) + length - root_length >= sizeof file->surviving) abort();
    strcat(strcpy(file->surviving, survives), path + root_length);
    /* What was there before this process looked counts as written. */
    file->dirty_to = about.st_size;
    return file;
}

static void note_write(int fd, off_t from, ssize_t length) {
    if (length <= 0) return;
    pthread_mutex_lock(&lock);
    struct tracked *file = find(fd);
    if (file) {
        int is_clean = file->dirty_from == file->dirty_to;
        if (is_clean || from < file->dirty_from) file->dirty_from = from;
        if (is_clean || file->dirty_to < from + length) file->dirty_to = from + length;
    }
    pthread_mutex_unlock(&lock);
}

/* Every byte written before this call survives; one that is written meanwhile may. */
static int keep(int fd, long number) {
    int result = syscall(number, fd);
    if (result || getenv("VOLATILE_DISK_LIES")) return result;
    pthread_mutex_lock(&copying);
    pthread_mutex_lock(&lock);
    struct tracked *file = find(fd);
    if (!file) {
        pthread_mutex_unlock(&lock);
        pthread_mutex_unlock(&copying);
        return 0;
    }
    off_t at = file->dirty_from, to = file->dirty_to;
    file->dirty_from = file->dirty_to = 0;
    pthread_mutex_unlock(&lock);
    char link[64], block[65536];
    name_descriptor(fd, link);
    /* The descriptor itself may be open for writing only. Closing this one drops the locks that the
     * process has on the file; no other process uses it. */
    int from = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
    int copy = syscall(SYS_openat, AT_FDCWD, file->surviving, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (from < 0 || copy < 0) abort();
    while (at < to) {
        size_t want = to - at < (off_t)sizeof block ? to - at : sizeof block;
        ssize_t n = syscall(SYS_pread64, from, block, want, at);
        if (n < 0) abort();
        if (n == 0) break;
        if (syscall(SYS_pwrite64, copy, block, n, at) != n) abort();
        at += n;
    }
    struct stat ours, theirs;
    if (!fstat(fd, &ours) && !fstat(copy, &theirs) && ours.st_size < theirs.st_size)
        syscall(SYS_ftruncate, copy, ours.st_size);
    syscall(SYS_close, from);
    syscall(SYS_close, copy);
    pthread_mutex_unlock(&copying);
    return 0;
}

int fsync(int fd) { return keep(fd, SYS_fsync); }
int fdatasync(int fd) { return keep(fd, SYS_fdatasync); }

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    ssize_t written = syscall(SYS_pwrite64, fd, bytes, length, at);
    note_write(fd, at, written);
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    return pwrite64(fd, bytes, length, at);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t written = syscall(SYS_write, fd, bytes, length);
    off_t end = written > 0 ? syscall(SYS_lseek, fd, 0, SEEK_CUR) : -1;
    if (end >= written) note_write(fd, end - written, written);
    return written;
}
