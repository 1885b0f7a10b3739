/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds each file of the directories named to a fuzz target, and each file cut at a few places:
 * the corpus as a unit test, without libFuzzer.
 */
#include "base/text.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_BYTES_MAX = 1 << 20, CUTS = 16 };

static size_t read_file(const char *dir, const char *name, uint8_t *buf)
{
    CLEANUP_TEXT struct text path = {0};
    text_printf(&path, "%s/%s", dir, name);
    FILE *f = fopen(path.s, "rb");
    size_t n = f ? fread(buf, 1, INPUT_BYTES_MAX, f) : 0;
    if (f)
        fclose(f);
    return n;
}

static void feed(const uint8_t *bytes, size_t n)
{
    uint8_t *exact = malloc(n ? n : 1); /* so that a read past the end is noticed */
    memcpy(exact, bytes, n);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

int main(int argc, char **argv)
{
    uint8_t *buf = malloc(INPUT_BYTES_MAX);
    size_t files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        for (struct dirent *e; d && (e = readdir(d));) {
            if (e->d_name[0] == '.')
                continue;
            size_t n = read_file(argv[i], e->d_name, buf);
            for (size_t cut = 0; cut <= CUTS; cut++)
                feed(buf, n * cut / CUTS);
            files++;
        }
        if (d)
            closedir(d);
    }
    free(buf);
    printf("%zu inputs\n", files);
    return files ? 0 : 1; /* an empty corpus proves nothing */
}
