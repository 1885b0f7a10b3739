/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/part.h"

#include "base/digest.h"

#include <errno.h>
#include <sys/stat.h>

uint64_t stamp_bytes(uint64_t stamp, const void *bytes, size_t n)
{
    return digest_fnv(stamp ? stamp : DIGEST_FNV_START, bytes, n);
}

uint64_t stamp_number(uint64_t stamp, uint64_t n)
{
    return stamp_bytes(stamp, &n, sizeof n);
}

uint64_t stamp_file(uint64_t stamp, int at, const char *path)
{
    struct stat st;
    if (fstatat(at, path, &st, 0) < 0)
        return stamp_number(stamp, (uint64_t)errno);
    const uint64_t parts[] = {st.st_dev,
                              st.st_ino,
                              (uint64_t)st.st_size,
                              st.st_mode,
                              st.st_uid,
                              st.st_gid,
                              (uint64_t)st.st_mtim.tv_sec,
                              (uint64_t)st.st_mtim.tv_nsec,
                              (uint64_t)st.st_ctim.tv_sec,
                              (uint64_t)st.st_ctim.tv_nsec};
    return stamp_bytes(stamp, parts, sizeof parts);
}
