/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit log for people and auditors. What a controller says is believed only as far as the log's key
 * signed it; verification asks no controller at all.
 */
#include "archive/verify.h"
#include "audit/leaf.h"
#include "cli/print.h"
#include "cli/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <stdio.h>

/* ---- reading ---- */

static int log_read(struct call *c, const char *path, struct text *out, struct err *e)
{
    struct fettle *f = call_controller(c, e);
    struct fettle_error why;
    char *bytes = NULL;
    size_t len = 0;
    if (!f)
        return e->code;
    int r = call_told(fettle_audit_read(f, path, &bytes, &len, &why), &why, e);
    if (r == 0)
        text_add_bytes(out, bytes, len);
    free(bytes);
    return r;
}

static int file_read(const char *path, struct text *out, struct err *e)
{
    char bytes[65536];
    size_t n;
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    while (out->len <= PROOF_BYTES_MAX && (n = fread(bytes, 1, sizeof bytes, file)) > 0)
        text_add_bytes(out, bytes, n);
    int r = ferror(file) ? err_set(e, -EIO, "%s cannot be read", path) : 0;
    fclose(file);
    if (r == 0 && out->len > PROOF_BYTES_MAX)
        r = err_set(e, -EINVAL, "%s is larger than any proof", path);
    text_add(out, "");
    return r;
}

/* ---- keys and checkpoints ---- */

static int key_parse(const char *s, struct note_key *out, struct err *e)
{
    CLEANUP_TEXT struct text line = {0};
    text_add_bytes(&line, s, strcspn(s, "\n"));
    return note_key_parse(line.s, out, e);
}

/* --log-key: the key itself, or a file. */
static int key_given(const struct call *c, struct note_key *out, struct err *e)
{
    const char *given = c->value[OPTION_LOG_KEY];
    CLEANUP_TEXT struct text line = {0};
    if (note_key_parse(given, out, NULL) == 0)
        return 0;
    int r = file_read(given, &line, e);
    if (r == 0)
        r = key_parse(line.s, out, e);
    return r ? err_wrap(e, r, "--log-key") : 0;
}

/* What the controller says of its log. */
static int log_ask(struct call *c, struct fettle_answer **out, struct note_key *key, struct err *e)
{
    CLEANUP_TEXT struct text shown = {0};
    struct fettle_error why;
    int r = log_read(c, NULL, &shown, e);
    if (r == 0)
        r = call_told(fettle_read(shown.s, out, &why), &why, e);
    if (r == 0 && key_parse(report_text(fettle_answer_value(*out), "key"), key, NULL) < 0)
        r = err_set(e, -EPROTO, "the controller does not say the key of its audit log");
    return r;
}

/* The key by which the controller is believed: that which is given, or its own. */
static int log_key(struct call *c, struct note_key *key, struct err *e)
{
    struct fettle_answer *answer = NULL;
    struct note_key given;
    int r = log_ask(c, &answer, key, e);
    fettle_answer_free(answer);
    if (r || !call_has(c, OPTION_LOG_KEY))
        return r;
    r = key_given(c, &given, e);
    if (r == 0 &&
        (strcmp(given.name, key->name) != 0 || memcmp(given.public, key->public, sizeof given.public) != 0))
        r = err_set(e, -EKEYREJECTED, "the controller has another log, that of %s+%08" PRIx32, key->name,
                    key->id);
    return r;
}

/* --old: a checkpoint that somebody kept. */
static int old_read(const struct call *c, const struct note_key *key, struct checkpoint *out, struct err *e)
{
    const char *path = c->value[OPTION_OLD];
    CLEANUP_TEXT struct text note = {0};
    int r = file_read(path, &note, e);
    if (r)
        return r;
    r = archive_checkpoint(note.s, note.len, key, out, e);
    return r ? err_wrap(e, r, "%s", path) : 0;
}

/* ---- show ---- */

int audit_show(struct call *c, struct err *e)
{
    static const char *const lines[][2] = {{"Log", "origin"},      {"Key", "key"},
                                           {"Entries", "size"},    {"Root", "root"},
                                           {"Kept from", "first"}, {"Archived", "archived"}};
    struct fettle_answer *answer = NULL;
    struct note_key key;
    int r = log_ask(c, &answer, &key, e);
    if (r == 0 && call_has(c, OPTION_JSON))
        report_json(c, fettle_answer_value(answer));
    for (size_t i = 0; r == 0 && !call_has(c, OPTION_JSON) && i < sizeof lines / sizeof *lines; i++)
        report_line(&c->out, lines[i][0], report_text(fettle_answer_value(answer), lines[i][1]));
    fettle_answer_free(answer);
    return r;
}

/* ---- prove ---- */

/* "4711", or "4711.2". */
static int entry_parse(const char *s, uint64_t *revision, uint64_t *n, struct err *e)
{
    CLEANUP_FREE char *first = mem_dup_len(s, strcspn(s, "."));
    const char *dot = strchr(s, '.');
    *n = 0;
    if (text_parse_u64(first, 1, INT64_MAX, revision, NULL) < 0 ||
        (dot && text_parse_u64(dot + 1, 0, UINT32_MAX, n, NULL) < 0))
        return err_set(e, -EINVAL,
                       "\"%.40s\" is not the number of an entry, such as 4711.0; see \"fettle audit list\"",
                       s);
    return 0;
}

/* Whether the answer is about what was asked. */
static int proof_judge(const struct proof *p, bool grows, uint64_t revision, uint64_t n, struct err *e)
{
    struct leaf_head head;
    bool same = p->kind == (grows ? PROOF_CONSISTENCY : PROOF_INCLUSION) &&
                (grows || (leaf_head(p->entry.s ? p->entry.s : "", p->entry.len, &head) &&
                           head.revision == revision && head.n == n));
    return same ? 0 : err_set(e, -EPROTO, "the controller proves something else");
}

int audit_prove(struct call *c, struct err *e)
{
    CLEANUP_TEXT struct text path = {0};
    struct note_key key;
    struct checkpoint old = {.size = 0}, head;
    struct proof p = {.place = 0};
    uint64_t revision = 0, n = 0;
    bool grows = call_has(c, OPTION_OLD);
    if (grows == (c->n_args > 0))
        return err_set(e, -EINVAL,
                       "what is to be proven? an entry, or that the log has grown from --old FILE");
    int r = grows ? 0 : entry_parse(c->args[0], &revision, &n, e);
    if (r == 0)
        r = log_key(c, &key, e);
    if (r == 0 && grows)
        r = old_read(c, &key, &old, e);
    if (r)
        return r;
    if (grows)
        text_printf(&path, "consistency?old=%" PRIu64, old.size);
    else
        text_printf(&path, "proof?revision=%" PRIu64 "&n=%" PRIu64, revision, n);
    r = log_read(c, path.s, &c->out, e);
    if (r == 0)
        r = proof_parse(c->out.s, c->out.len, &p, e);
    if (r == 0)
        r = proof_judge(&p, grows, revision, n, e);
    if (r == 0)
        r = verify_proof(&p, &key, &old, &head, e);
    proof_fini(&p);
    if (r)
        text_clear(&c->out);
    return r;
}

/* ---- verify ---- */

static void write_signer(struct call *c, const struct note_key *key)
{
    CLEANUP_TEXT struct text t = {0};
    text_printf(&t, "%s+%08" PRIx32 "%s", key->name, key->id,
                call_has(c, OPTION_LOG_KEY) ? ""
                                            : ", the directory's own key: compare it, or give --log-key");
    report_line(&c->out, "Signed by", t.s);
}

static void write_number(struct call *c, const char *name, uint64_t n)
{
    CLEANUP_TEXT struct text t = {0};
    text_add_u64(&t, n);
    report_line(&c->out, name, t.s);
}

static void write_verified(struct call *c, const struct note_key *key, const struct verified *v)
{
    char at[32];
    text_add(&c->out, "good\n");
    write_number(c, "Entries", v->head.size);
    if (v->from > 0)
        write_number(c, "Kept from", v->from);
    if (v->head.size > v->from)
        report_line(&c->out, "Last of", wall_format(v->last, at));
    write_number(c, "Earlier heads", v->earlier);
    write_signer(c, key);
}

static int directory_verify(struct call *c, const char *dir, struct err *e)
{
    struct archive *a = NULL;
    struct note_key key;
    struct checkpoint old;
    struct verified v;
    int r = archive_read(dir, &a, e);
    if (r == 0 && call_has(c, OPTION_LOG_KEY)) {
        r = key_given(c, &key, e);
        if (r == 0)
            archive_believe(a, &key);
    }
    if (r == 0 && call_has(c, OPTION_OLD))
        r = old_read(c, archive_key(a), &old, e);
    if (r == 0)
        r = archive_verify(a, call_has(c, OPTION_OLD) ? &old : NULL, &v, e);
    if (r == 0 && !call_has(c, OPTION_QUIET))
        write_verified(c, archive_key(a), &v);
    archive_close(a);
    return r;
}

static void write_proven(struct call *c, const struct proof *p, const struct checkpoint *head)
{
    text_add(&c->out, "good\n");
    write_number(c, p->kind == PROOF_INCLUSION ? "Index" : "Old entries", p->place);
    write_number(c, "Entries", head->size);
    if (p->kind == PROOF_INCLUSION)
        report_line(&c->out, "Entry", p->entry.s);
}

static int proof_verify(struct call *c, const char *path, struct err *e)
{
    CLEANUP_TEXT struct text bytes = {0};
    struct note_key key;
    struct checkpoint old, head;
    struct proof p = {.place = 0};
    if (!call_has(c, OPTION_LOG_KEY))
        return err_set(e, -EINVAL, "by which key? --log-key KEY, as \"fettle audit show\" prints it");
    int r = key_given(c, &key, e);
    if (r == 0)
        r = file_read(path, &bytes, e);
    if (r == 0)
        r = proof_parse(bytes.s, bytes.len, &p, e);
    if (r == 0 && p.kind == PROOF_CONSISTENCY && !call_has(c, OPTION_OLD))
        r = err_set(e, -EINVAL, "from which checkpoint has the log grown? --old FILE");
    if (r == 0 && call_has(c, OPTION_OLD))
        r = old_read(c, &key, &old, e);
    if (r == 0)
        r = verify_proof(&p, &key, &old, &head, e);
    if (r == 0 && !call_has(c, OPTION_QUIET))
        write_proven(c, &p, &head);
    proof_fini(&p);
    return r;
}

int audit_verify(struct call *c, struct err *e)
{
    struct stat st;
    const char *path = c->args[0];
    if (stat(path, &st) < 0)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    return S_ISDIR(st.st_mode) ? directory_verify(c, path, e) : proof_verify(c, path, e);
}

/* ---- export ---- */

static int export_fetch(void *arg, const struct tile *t, struct text *out, struct err *e)
{
    char path[TILE_PATH_BYTES];
    return log_read(arg, tile_format(t, path), out, e);
}

static int export_minimum(struct call *c, struct archive *a, struct err *e)
{
    CLEANUP_TEXT struct text note = {0};
    int r = log_read(c, "minimum", &note, e);
    return r == -ENOENT ? 0 : r ? r : archive_take_minimum(a, &note, e);
}

int audit_export(struct call *c, struct err *e)
{
    CLEANUP_TEXT struct text note = {0};
    const struct archive_source source = {export_fetch, c};
    struct archive *a = NULL;
    struct note_key key;
    struct verified v;
    int r = log_key(c, &key, e);
    if (r == 0)
        r = archive_open(c->args[0], &key, &a, e);
    if (r == 0)
        r = log_read(c, "checkpoint", &note, e);
    if (r == 0)
        r = archive_go_on(a, &note, true, &source, e);
    if (r == 0)
        r = export_minimum(c, a, e);
    if (r == 0)
        r = archive_verify(a, NULL, &v, e);
    if (r == 0)
        write_verified(c, &key, &v);
    archive_close(a);
    return r;
}
