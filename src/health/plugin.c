/* SPDX-License-Identifier: Apache-2.0 */
#include "health/plugin.h"

#include "base/text.h"
#include "health/piece.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static void note_datum(void *arg, const struct perf *p)
{
    struct text *t = arg;
    uint64_t milli = p->value_milli < 0 ? -(uint64_t)p->value_milli : (uint64_t)p->value_milli;
    if (t->len > FINDING_TEXT_BYTES_MAX)
        return;
    text_add(t, t->len ? " " : "");
    for (size_t i = 0; i < p->label_len; i++)
        text_add_char(t, p->label[i] ? p->label[i] : ' ');
    text_printf(t, "=%s%" PRIu64, p->value_milli < 0 ? "-" : "", milli / 1000);
    if (milli % 1000)
        text_printf(t, ".%03" PRIu64, milli % 1000);
    text_add(t, p->unit);
}

/* Adds the measured values to the finding. */
static void note_data(const char *output, size_t len, enum metric format, struct verdict *v)
{
    CLEANUP_TEXT struct text data = {0};
    metric_each(format, output, len, note_datum, &data);
    if (data.len > 0)
        verdict_note(v, "%s", data.s);
}

void plugin_read(int status, const char *output, size_t len, enum metric format, struct verdict *v)
{
    assert(output || len == 0);
    struct piece rest;
    struct piece line = piece_trim(piece_cut(piece_first_line(output, len, &rest), '|', &rest));
    char said[4 * FINDING_TEXT_BYTES_MAX] = "it said nothing";
    size_t n = (size_t)(line.end - line.at);
    n = n < sizeof said ? n : sizeof said - 1;
    for (size_t i = 0; i < n; i++)
        said[i] = line.at[i] ? line.at[i] : ' ';
    if (n > 0)
        said[n] = '\0';

    verdict_clear(v);
    if (status < 0)
        verdict_cannot(v, RESULT_UNKNOWN, "ended by signal %d: %s", -status, said);
    else if (status == 126)
        verdict_cannot(v, RESULT_UNKNOWN, "exit status 126, the program may not be executed (chmod +x): %s",
                       said);
    else if (status == 127)
        verdict_cannot(v, RESULT_UNSUPPORTED, "exit status %d, no such program: %s", status, said);
    else if (status > 3)
        verdict_cannot(v, RESULT_UNKNOWN, "exit status %d: %s", status, said);
    else if (status == 3)
        verdict_cannot(v, RESULT_UNKNOWN, "%s", said);
    else if (status > 0)
        verdict_add(v, status == 1 ? RESULT_WARN : RESULT_FATAL, "", "", "%s", said);
    else
        verdict_note(v, "%s", n > 0 ? said : "");
    if (status == 1 || status == 2)
        note_data(output, len, format, v);
}
