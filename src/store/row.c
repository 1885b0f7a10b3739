/* SPDX-License-Identifier: Apache-2.0 */
#include "store/row.h"

#include "base/digest.h"

#include <assert.h>
#include <string.h>

#define JOURNAL_SCHEMA                                                    \
    "CREATE TABLE journal(revision INTEGER NOT NULL, n INTEGER NOT NULL," \
    " at_ns INTEGER NOT NULL, actor TEXT NOT NULL, what TEXT NOT NULL,"   \
    " nodes TEXT NOT NULL, text TEXT NOT NULL, sum INTEGER NOT NULL,"     \
    " about TEXT NOT NULL DEFAULT '', fields TEXT NOT NULL DEFAULT '',"   \
    " PRIMARY KEY(revision, n)) STRICT, WITHOUT ROWID;"

const char row_schema[] =
    "CREATE TABLE record(key TEXT PRIMARY KEY, value TEXT NOT NULL,"
    " revision INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT, WITHOUT ROWID;" JOURNAL_SCHEMA
    "CREATE TABLE meta(id INTEGER PRIMARY KEY CHECK(id = 1),"
    " term INTEGER NOT NULL, revision INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT;";

const char row_journal_schema[] = JOURNAL_SCHEMA;

static uint64_t sum_text(uint64_t sum, const char *s)
{
    return digest_fnv(sum, s, strlen(s) + 1);
}

static uint64_t sum_number(uint64_t sum, uint64_t n)
{
    for (int i = 0; i < 8; i++) {
        unsigned char byte = (unsigned char)(n >> (8 * i));
        sum = digest_fnv(sum, &byte, 1);
    }
    return sum;
}

static uint64_t meta_sum(const struct meta_row *row)
{
    return sum_number(sum_number(DIGEST_FNV_START, row->term), row->revision);
}

static uint64_t record_sum(const struct record_row *row)
{
    return sum_number(sum_text(sum_text(DIGEST_FNV_START, row->key), row->value), row->revision);
}

static uint64_t entry_sum(const struct entry_row *row)
{
    uint64_t sum = sum_number(sum_number(DIGEST_FNV_START, row->revision), row->n);
    sum = sum_number(sum, (uint64_t)row->entry.at.ns);
    sum = sum_text(sum_text(sum, row->entry.actor), row->entry.what);
    sum = sum_text(sum_text(sum, row->entry.nodes), row->entry.text);
    const char *about = row->entry.about ? row->entry.about : "", *fields = row->entry.fields;
    bool has_fields = fields && *fields; /* without fields the sum is that of format 2; also without `about`,
                                            that of format 1 */
    sum = *about || has_fields ? sum_text(sum, about) : sum;
    return has_fields ? sum_text(sum, fields) : sum;
}

static void bind_number(sqlite3_stmt *stmt, int i, uint64_t n)
{
    sqlite3_bind_int64(stmt, i, (int64_t)n);
}

static void bind_text(sqlite3_stmt *stmt, int i, const char *s)
{
    sqlite3_bind_text(stmt, i, s, -1, SQLITE_STATIC);
}

static uint64_t get_number(sqlite3_stmt *stmt, int i)
{
    return (uint64_t)sqlite3_column_int64(stmt, i);
}

/* Never NULL: a column that is not text gives "", and the row's sum then fails. */
static const char *get_text(sqlite3_stmt *stmt, int i)
{
    const void *s = sqlite3_column_text(stmt, i);
    return s ? s : "";
}

void meta_bind(sqlite3_stmt *stmt, const struct meta_row *row)
{
    bind_number(stmt, 1, row->term);
    bind_number(stmt, 2, row->revision);
    bind_number(stmt, 3, meta_sum(row));
}

bool meta_read(sqlite3_stmt *stmt, struct meta_row *row)
{
    *row = (struct meta_row){.term = get_number(stmt, 0), .revision = get_number(stmt, 1)};
    return get_number(stmt, 2) == meta_sum(row);
}

void record_bind(sqlite3_stmt *stmt, const struct record_row *row)
{
    assert(row->key && row->value);
    bind_text(stmt, 1, row->key);
    bind_text(stmt, 2, row->value);
    bind_number(stmt, 3, row->revision);
    bind_number(stmt, 4, record_sum(row));
}

bool record_read(sqlite3_stmt *stmt, struct record_row *row)
{
    *row = (struct record_row){get_text(stmt, 0), get_text(stmt, 1), get_number(stmt, 2)};
    return get_number(stmt, 3) == record_sum(row);
}

void entry_bind(sqlite3_stmt *stmt, const struct entry_row *row)
{
    assert(row->entry.actor && row->entry.what && row->entry.nodes && row->entry.text);
    bind_number(stmt, 1, row->revision);
    bind_number(stmt, 2, row->n);
    bind_number(stmt, 3, (uint64_t)row->entry.at.ns);
    bind_text(stmt, 4, row->entry.actor);
    bind_text(stmt, 5, row->entry.what);
    bind_text(stmt, 6, row->entry.nodes);
    bind_text(stmt, 7, row->entry.text);
    bind_text(stmt, 8, row->entry.about ? row->entry.about : "");
    bind_text(stmt, 9, row->entry.fields ? row->entry.fields : "");
    bind_number(stmt, 10, entry_sum(row));
}

bool entry_read(sqlite3_stmt *stmt, struct entry_row *row)
{
    *row = (struct entry_row){.revision = get_number(stmt, 0),
                              .n = get_number(stmt, 1),
                              .entry = {.at = {sqlite3_column_int64(stmt, 2)},
                                        .actor = get_text(stmt, 3),
                                        .what = get_text(stmt, 4),
                                        .nodes = get_text(stmt, 5),
                                        .text = get_text(stmt, 6),
                                        .about = get_text(stmt, 7),
                                        .fields = get_text(stmt, 8)}};
    return get_number(stmt, 9) == entry_sum(row);
}
