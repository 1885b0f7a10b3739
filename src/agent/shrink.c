/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/shrink.h"

#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Segments that cannot be written hold nothing but what is in the file. Relocated data is in the
 * writable ones, even where it is protected later. A dropped page that is needed again costs one
 * minor fault; nothing is read from disk while it is in the page cache. */
static int drop_pages(struct dl_phdr_info *object, size_t size, void *arg)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W)
            continue;
        uintptr_t from = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
        uintptr_t to = object->dlpi_addr + part->p_vaddr + part->p_filesz;
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
    }
    return 0;
}

void shrink_memory(void)
{
    munlockall(); /* locked pages cannot be dropped */
    malloc_trim(0);
    dl_iterate_phdr(drop_pages, NULL);
    /* When a user's limit forbids the lock, the agent goes on without this promise. */
    (void)mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
}
