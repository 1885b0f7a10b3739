/* SPDX-License-Identifier: Apache-2.0 */
/* Rows on their way through the real tables: what is read is what was written, or it is refused. */
#include "base/text.h"
#include "store/row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int open_tables(void **state)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, row_schema, NULL, NULL, NULL), SQLITE_OK);
    *state = db;
    return 0;
}

static int close_tables(void **state)
{
    return sqlite3_close(*state) == SQLITE_OK ? 0 : -1;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return stmt;
}

static void finish(sqlite3_stmt *stmt)
{
    assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
}

static void run(sqlite3 *db, const char *sql)
{
    finish(prepare(db, sql));
}

static sqlite3_stmt *first_row(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = prepare(db, sql);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    return stmt;
}

static const char meta_query[] = "SELECT " META_COLUMNS " FROM meta";
static const char record_query[] = "SELECT " RECORD_COLUMNS " FROM record";
static const char entry_query[] = "SELECT " ENTRY_COLUMNS " FROM journal";

static void put_meta(sqlite3 *db, uint64_t term, uint64_t revision)
{
    sqlite3_stmt *stmt = prepare(db, "INSERT OR REPLACE INTO meta(id, " META_COLUMNS ") VALUES(1, ?, ?, ?)");
    meta_bind(stmt, &(struct meta_row){term, revision});
    finish(stmt);
}

static void put_record(sqlite3 *db, const struct record_row *row)
{
    sqlite3_stmt *stmt = prepare(db, "INSERT INTO record(" RECORD_COLUMNS ") VALUES(?, ?, ?, ?)");
    record_bind(stmt, row);
    finish(stmt);
}

static void put_entry(sqlite3 *db, const struct entry_row *row)
{
    sqlite3_stmt *stmt =
        prepare(db, "INSERT INTO journal(" ENTRY_COLUMNS ") VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    entry_bind(stmt, row);
    finish(stmt);
}

static const struct entry_row whole = {.revision = 7,
                                       .n = 1,
                                       .entry = {.at = {-5},
                                                 .actor = "root",
                                                 .what = "drain",
                                                 .nodes = "lx[01-02]",
                                                 .text = "a sentence",
                                                 .about = "7.1",
                                                 .fields = "\"claim\":\"7.1\""}};

static void test_a_term_and_revision_come_back(void **state)
{
    static const struct meta_row rows[] = {{0, 0}, {1, 2}, {INT64_MAX, INT64_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct meta_row row;
        put_meta(*state, rows[i].term, rows[i].revision);
        sqlite3_stmt *stmt = first_row(*state, meta_query);
        assert_true(meta_read(stmt, &row));
        assert_int_equal(row.term, rows[i].term);
        assert_int_equal(row.revision, rows[i].revision);
        sqlite3_finalize(stmt);
    }
}

static void test_a_record_comes_back(void **state)
{
    struct record_row row;
    put_record(*state, &(struct record_row){"claim/42", "{\"owner\":\"ann\"}", 9});
    sqlite3_stmt *stmt = first_row(*state, record_query);
    assert_true(record_read(stmt, &row));
    assert_string_equal(row.key, "claim/42");
    assert_string_equal(row.value, "{\"owner\":\"ann\"}");
    assert_int_equal(row.revision, 9);
    sqlite3_finalize(stmt);
}

static void test_an_entry_comes_back(void **state)
{
    struct entry_row row;
    put_entry(*state, &whole);
    sqlite3_stmt *stmt = first_row(*state, entry_query);
    assert_true(entry_read(stmt, &row));
    assert_int_equal(row.revision, 7);
    assert_int_equal(row.n, 1);
    assert_int_equal(row.entry.at.ns, -5);
    assert_string_equal(row.entry.actor, "root");
    assert_string_equal(row.entry.what, "drain");
    assert_string_equal(row.entry.nodes, "lx[01-02]");
    assert_string_equal(row.entry.text, "a sentence");
    assert_string_equal(row.entry.about, "7.1");
    assert_string_equal(row.entry.fields, "\"claim\":\"7.1\"");
    sqlite3_finalize(stmt);
}

/* Journals of earlier formats have sums without these columns, and are read on. The sums are FNV-1a of 64
 * bits, calculated by another program. */
static void test_an_entry_without_newer_columns_has_the_sum_of_its_format(void **state)
{
    struct entry_row older = whole, row;
    older.entry.about = NULL;
    older.entry.fields = "";
    put_entry(*state, &older);
    older.n = 2;
    older.entry.about = "7.1";
    older.entry.fields = NULL;
    put_entry(*state, &older);
    run(*state, "UPDATE journal SET fields = '' WHERE n = 2");
    sqlite3_stmt *stmt = first_row(*state, entry_query);
    assert_true(entry_read(stmt, &row));
    assert_string_equal(row.entry.about, "");
    assert_int_equal(sqlite3_column_int64(stmt, 9), INT64_C(9084482880650068175));
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    assert_true(entry_read(stmt, &row));
    assert_string_equal(row.entry.fields, "");
    assert_int_equal(sqlite3_column_int64(stmt, 9), INT64_C(-70265603978347244));
    sqlite3_finalize(stmt);
}

static void assert_changed(sqlite3 *db, const char *query, const char *change)
{
    struct meta_row meta;
    struct record_row record;
    struct entry_row entry;
    assert_int_equal(sqlite3_exec(db, "SAVEPOINT before", NULL, NULL, NULL), SQLITE_OK);
    run(db, change);
    sqlite3_stmt *stmt = first_row(db, query);
    bool is_good = query == meta_query     ? meta_read(stmt, &meta)
                   : query == record_query ? record_read(stmt, &record)
                                           : entry_read(stmt, &entry);
    sqlite3_finalize(stmt);
    if (is_good)
        fail_msg("not noticed: %s", change);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK TO before; RELEASE before", NULL, NULL, NULL), SQLITE_OK);
}

static void test_a_change_of_any_column_is_noticed(void **state)
{
    static const struct {
        const char *query, *change;
    } changes[] = {
        {meta_query, "UPDATE meta SET term = 2"},
        {meta_query, "UPDATE meta SET revision = 3"},
        {meta_query, "UPDATE meta SET term = 2, revision = 1"}, /* swapped */
        {meta_query, "UPDATE meta SET sum = sum + 1"},
        {record_query, "UPDATE record SET key = 'b'"},
        {record_query, "UPDATE record SET value = '2'"},
        {record_query, "UPDATE record SET value = ''"},
        {record_query, "UPDATE record SET key = 'a1', value = ''"}, /* the same bytes in a row */
        {record_query, "UPDATE record SET revision = 5"},
        {record_query, "UPDATE record SET sum = 0"},
        {entry_query, "UPDATE journal SET revision = 8"},
        {entry_query, "UPDATE journal SET n = 0"},
        {entry_query, "UPDATE journal SET at_ns = 5"},
        {entry_query, "UPDATE journal SET actor = 'ann'"},
        {entry_query, "UPDATE journal SET what = 'undrain'"},
        {entry_query, "UPDATE journal SET nodes = ''"},
        {entry_query, "UPDATE journal SET text = 'another'"},
        {entry_query, "UPDATE journal SET about = ''"},
        {entry_query, "UPDATE journal SET fields = ''"},
        {entry_query, "UPDATE journal SET about = fields, fields = about"},
        {entry_query, "UPDATE journal SET sum = 0"},
    };
    put_meta(*state, 1, 2);
    put_record(*state, &(struct record_row){"a", "1", 4});
    put_entry(*state, &whole);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        assert_changed(*state, changes[i].query, changes[i].change);
}

/* Tables of a damaged file may have anything in a column. */
static void test_a_column_that_is_no_text_is_noticed(void **state)
{
    struct record_row row;
    sqlite3_stmt *stmt = first_row(*state, "SELECT NULL, NULL, 0, 0");
    assert_false(record_read(stmt, &row));
    assert_string_equal(row.key, "");
    sqlite3_finalize(stmt);
}

static void test_the_journals_file_has_its_table_alone(void **state)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, row_journal_schema, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_stmt *stmt = first_row(db, "SELECT group_concat(name) FROM sqlite_master");
    assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "journal");
    sqlite3_finalize(stmt);
    put_entry(db, &whole);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tables, close_tables)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_term_and_revision_come_back),
        TEST(test_a_record_comes_back),
        TEST(test_an_entry_comes_back),
        TEST(test_an_entry_without_newer_columns_has_the_sum_of_its_format),
        TEST(test_a_change_of_any_column_is_noticed),
        TEST(test_a_column_that_is_no_text_is_noticed),
        cmocka_unit_test(test_the_journals_file_has_its_table_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
