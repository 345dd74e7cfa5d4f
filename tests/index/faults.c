/* Interposed calls that change a folder, for tests/index/test_faults.py (LD_PRELOAD, Linux).

   Every call that may change something below the folder is counted. At the chosen one the
   process is killed before it, after it, or halfway through a write; or from it on the disk is
   full; or it alone fails with an input/output error. Nothing happens before fault_arm(). */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, KILL_BEFORE, KILL_AFTER, KILL_TORN, FULL, BROKEN };

static char folder[PATH_MAX];
static size_t length;
static int armed, mode, trace = -1;
static long at, calls;

#define REAL(name, type) static type real; if (!real) real = (type)dlsym(RTLD_NEXT, name)

void fault_arm(const char *path, int how, long number, int trace_fd)
{
    length = strlen(strncpy(folder, path, sizeof folder - 1));
    mode = how, at = number, calls = 0, trace = trace_fd;
    __atomic_store_n(&armed, 1, __ATOMIC_SEQ_CST);
}

void fault_disarm(void) { armed = 0; }

long fault_calls(void) { return calls; }

static int inside(const char *path)
{
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static int fd_path(int fd, char *path, size_t size)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, path, size - 1);
    if (got < 0)
        return 0;
    path[got] = 0;
    return 1;
}

static int fd_inside(int fd)
{
    char path[PATH_MAX];
    return armed && fd_path(fd, path, sizeof path) && inside(path);
}

static int path_inside(int dirfd, const char *name)
{
    char path[2 * PATH_MAX];
    if (!armed || !name)
        return 0;
    if (*name == '/')
        return inside(name);
    if (dirfd == AT_FDCWD ? !getcwd(path, PATH_MAX) : !fd_path(dirfd, path, PATH_MAX))
        return 0;
    size_t used = strlen(path);
    snprintf(path + used, sizeof path - used, "/%s", name);
    return inside(path);
}

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

/* What to do at this call: 0 go on, 1 fail (errno is set), 2 die after it, 3 half a write. */
static int step(const char *name, int grows)
{
    long number = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (trace >= 0)
        dprintf(trace, "%s\n", name);
    if (mode == FULL && number >= at && grows) {
        errno = ENOSPC;
        return 1;
    }
    if (number != at)
        return 0;
    if (mode == KILL_BEFORE || (mode == KILL_TORN && !grows))
        die();
    if (mode == BROKEN) {
        errno = EIO;
        return 1;
    }
    return mode == KILL_AFTER ? 2 : mode == KILL_TORN ? 3 : 0;
}

#define AROUND(is_ours, name, grows, result_type, call)   \
    do {                                                  \
        int todo = (is_ours) ? step(name, grows) : 0;     \
        if (todo == 1)                                    \
            return -1;                                    \
        if (todo == 3)                                    \
            die();                                        \
        result_type result = (call);                      \
        if (todo == 2)                                    \
            die();                                        \
        return result;                                    \
    } while (0)

#define TEAR(is_ours, name, half, whole)                  \
    do {                                                  \
        int todo = (is_ours) ? step(name, 1) : 0;         \
        if (todo == 1)                                    \
            return -1;                                    \
        ssize_t result = todo == 3 ? (half) : (whole);    \
        if (todo >= 2)                                    \
            die();                                        \
        return result;                                    \
    } while (0)

typedef ssize_t (*write_t)(int, const void *, size_t);
ssize_t write(int fd, const void *data, size_t size)
{
    REAL("write", write_t);
    TEAR(fd != trace && fd_inside(fd), "write", real(fd, data, size / 2), real(fd, data, size));
}

typedef ssize_t (*pwrite_t)(int, const void *, size_t, off_t);
ssize_t pwrite(int fd, const void *data, size_t size, off_t place)
{
    REAL("pwrite", pwrite_t);
    TEAR(fd_inside(fd), "pwrite", real(fd, data, size / 2, place), real(fd, data, size, place));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place)
{
    REAL("pwrite64", pwrite_t);
    TEAR(fd_inside(fd), "pwrite", real(fd, data, size / 2, place), real(fd, data, size, place));
}

typedef ssize_t (*writev_t)(int, const struct iovec *, int);
ssize_t writev(int fd, const struct iovec *parts, int count)
{
    REAL("writev", writev_t);
    TEAR(fd_inside(fd), "writev", real(fd, parts, (count + 1) / 2), real(fd, parts, count));
}

typedef ssize_t (*copy_t)(int, off64_t *, int, off64_t *, size_t, unsigned);
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags)
{
    REAL("copy_file_range", copy_t);
    TEAR(fd_inside(out), "copy_file_range", real(in, from, out, to, size / 2, flags),
         real(in, from, out, to, size, flags));
}

typedef ssize_t (*sendfile_t)(int, int, off_t *, size_t);
ssize_t sendfile(int out, int in, off_t *from, size_t size)
{
    REAL("sendfile", sendfile_t);
    TEAR(fd_inside(out), "sendfile", real(out, in, from, size / 2), real(out, in, from, size));
}

ssize_t sendfile64(int out, int in, off64_t *from, size_t size)
{
    REAL("sendfile64", sendfile_t);
    TEAR(fd_inside(out), "sendfile", real(out, in, from, size / 2), real(out, in, from, size));
}

typedef int (*fd_t)(int);
int fsync(int fd) { REAL("fsync", fd_t); AROUND(fd_inside(fd), "fsync", 0, int, real(fd)); }
int fdatasync(int fd) { REAL("fdatasync", fd_t); AROUND(fd_inside(fd), "fsync", 0, int, real(fd)); }

typedef int (*fd_size_t)(int, off_t);
int ftruncate(int fd, off_t size)
{
    REAL("ftruncate", fd_size_t);
    AROUND(fd_inside(fd), "ftruncate", size > 0, int, real(fd, size));
}

int ftruncate64(int fd, off64_t size)
{
    REAL("ftruncate64", fd_size_t);
    AROUND(fd_inside(fd), "ftruncate", size > 0, int, real(fd, size));
}

typedef int (*fd_range_t)(int, off_t, off_t);
int posix_fallocate(int fd, off_t start, off_t size)
{
    REAL("posix_fallocate", fd_range_t);
    int todo = fd_inside(fd) ? step("fallocate", 1) : 0;
    if (todo == 1)
        return errno;
    int result = todo == 3 ? 0 : real(fd, start, size);
    if (todo >= 2)
        die();
    return result;
}

int posix_fallocate64(int fd, off64_t start, off64_t size) { return posix_fallocate(fd, start, size); }

typedef int (*path_t)(const char *);
int unlink(const char *path)
{
    REAL("unlink", path_t);
    AROUND(path_inside(AT_FDCWD, path), "unlink", 0, int, real(path));
}

int rmdir(const char *path)
{
    REAL("rmdir", path_t);
    AROUND(path_inside(AT_FDCWD, path), "rmdir", 0, int, real(path));
}

typedef int (*unlinkat_t)(int, const char *, int);
int unlinkat(int dir, const char *path, int flags)
{
    REAL("unlinkat", unlinkat_t);
    AROUND(path_inside(dir, path), flags & AT_REMOVEDIR ? "rmdir" : "unlink", 0, int,
           real(dir, path, flags));
}

typedef int (*mkdir_t)(const char *, mode_t);
int mkdir(const char *path, mode_t bits)
{
    REAL("mkdir", mkdir_t);
    AROUND(path_inside(AT_FDCWD, path), "mkdir", 1, int, real(path, bits));
}

typedef int (*rename_t)(const char *, const char *);
int rename(const char *from, const char *to)
{
    REAL("rename", rename_t);
    AROUND(path_inside(AT_FDCWD, to), "rename", 0, int, real(from, to));
}

typedef int (*renameat_t)(int, const char *, int, const char *);
int renameat(int a, const char *from, int b, const char *to)
{
    REAL("renameat", renameat_t);
    AROUND(path_inside(b, to), "rename", 0, int, real(a, from, b, to));
}

typedef int (*renameat2_t)(int, const char *, int, const char *, unsigned);
int renameat2(int a, const char *from, int b, const char *to, unsigned flags)
{
    REAL("renameat2", renameat2_t);
    AROUND(path_inside(b, to), "rename", 0, int, real(a, from, b, to, flags));
}

int link(const char *from, const char *to)
{
    REAL("link", rename_t);
    AROUND(path_inside(AT_FDCWD, to), "link", 1, int, real(from, to));
}

typedef int (*linkat_t)(int, const char *, int, const char *, int);
int linkat(int a, const char *from, int b, const char *to, int flags)
{
    REAL("linkat", linkat_t);
    AROUND(path_inside(b, to), "link", 1, int, real(a, from, b, to, flags));
}

typedef int (*open_t)(const char *, int, ...);
typedef int (*openat_t)(int, const char *, int, ...);

static mode_t bits_of(int flags, va_list rest)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPENER(name)                                                                   \
    int name(const char *path, int flags, ...)                                         \
    {                                                                                  \
        va_list rest;                                                                  \
        va_start(rest, flags);                                                         \
        mode_t bits = bits_of(flags, rest);                                            \
        va_end(rest);                                                                  \
        REAL(#name, open_t);                                                           \
        AROUND(flags & (O_CREAT | O_TRUNC) && path_inside(AT_FDCWD, path), "create",   \
               1, int, real(path, flags, bits));                                       \
    }

#define OPENER_AT(name)                                                                \
    int name(int dir, const char *path, int flags, ...)                                \
    {                                                                                  \
        va_list rest;                                                                  \
        va_start(rest, flags);                                                         \
        mode_t bits = bits_of(flags, rest);                                            \
        va_end(rest);                                                                  \
        REAL(#name, openat_t);                                                         \
        AROUND(flags & (O_CREAT | O_TRUNC) && path_inside(dir, path), "create", 1,     \
               int, real(dir, path, flags, bits));                                     \
    }

OPENER(open)
OPENER(open64)
OPENER_AT(openat)
OPENER_AT(openat64)
