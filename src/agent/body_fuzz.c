/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checker/checklist.h"
#include "agent/collect/ledger.h"
#include "agent/uplink/body.h"

#include "base/text.h"

#include <stdlib.h>

/* The first byte is the frame's type; the rest a body as a controller or an agent may send it. What
 * a collector takes over is folded into a batch, which must be JSON within a frame. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void emit(void *arg, const char *body, size_t len)
{
    json_t *json = json_read(body, len, NULL);
    if (!json || len > FRAME_BODY_BYTES_MAX)
        abort();
    json_decref(json);
}

static void fold(const struct frame *hello, const struct frame *f)
{
    struct ledger *l = ledger_create("lx01", "c0");
    struct body_hello h;
    struct body_heartbeat beat = {0};
    struct body_inventory inventory = {0};
    struct body_fingerprint fingerprint = {0};
    struct fingerprint wanted = {0};
    struct body_components components = {0};
    struct hostlist nodes = {0};
    if (body_read_hello(hello, &h, NULL) == 0) {
        hostlist_add(&nodes, h.name);
        ledger_share(l, (struct mono){0}, 1, &nodes);
        (void)ledger_hello(l, (struct mono){1}, &h, NULL);
        if (f->type == FRAME_HEARTBEAT && body_read_heartbeat(f, &beat, NULL) == 0)
            (void)ledger_heartbeat(l, (struct mono){2}, h.name, &beat);
        if (f->type == FRAME_INVENTORY && body_read_inventory(f, &inventory, NULL) == 0)
            (void)ledger_inventory(l, h.name, &inventory);
        if (f->type == FRAME_FINGERPRINT && body_read_fingerprint(f, &fingerprint, NULL) == 0)
            (void)ledger_fingerprint(l, h.name, &fingerprint);
        ledger_want_components(l, &nodes, &wanted);
        (void)ledger_ask_components(l, (struct mono){2}, &wanted);
        if (f->type == FRAME_COMPONENTS && body_read_components(f, &components, NULL) == 0)
            (void)ledger_components(l, h.name, &components);
        while (ledger_batch_components(l, 6120, emit, NULL))
            ;
        ledger_batch(l, (struct mono){3}, 6120, emit, NULL);
        struct mono next;
        (void)ledger_find_missed(l, (struct mono){INT64_C(3600) * 1000000000}, &next);
        ledger_batch_missed(l, 6120, emit, NULL);
    }
    free(beat.work);
    free(inventory.members);
    free(components.members);
    hostlist_fini(&nodes);
    ledger_destroy(l);
}

static void read_from_controller(const struct frame *f)
{
    struct body_welcome welcome;
    struct body_settings settings;
    struct body_survey survey;
    struct body_refuse refuse;
    struct body_redirect redirect;
    struct body_share share;
    struct body_want want;
    char *pem = NULL;
    if (body_read_welcome(f, &welcome, NULL) == 0)
        json_decref(welcome.survey);
    if (body_read_settings(f, &settings, NULL) == 0)
        json_decref(settings.survey);
    if (body_read_survey(f, &survey, NULL) == 0)
        body_survey_fini(&survey);
    (void)body_read_refuse(f, &refuse, NULL);
    (void)body_read_redirect(f, &redirect, NULL);
    if (body_read_share(f, &share, NULL) == 0)
        hostlist_fini(&share.nodes);
    if (body_read_want(f, &want, NULL) == 0)
        hostlist_fini(&want.nodes);
    if (body_read_pem(f, "certificate", &pem, NULL) == 0)
        free(pem);
}

/* What was passed on reads back as what it was. */
static void pass_on(const struct frame *f)
{
    CLEANUP_TEXT struct text body = {0};
    struct body_pass back;
    if (body_write_pass("lx02", f, &body, NULL))
        return;
    struct frame pass = {.type = FRAME_PASS, .body = body.s, .len = body.len};
    if (body_read_pass(&pass, &back, NULL) == 0)
        free(back.body);
    else if (f->type == FRAME_CHECKS)
        abort();
}

static void read_of_checks(const struct frame *f)
{
    struct body_checklist list;
    struct body_act act;
    struct body_standing standing;
    struct body_pass pass;
    struct checklist own;
    if (body_read_checklist(f, &list, NULL) == 0) {
        checklist_take(&list, "lx02", &own);
        checklist_fini(&own);
        body_checklist_fini(&list);
    }
    (void)body_read_act(f, &act, NULL);
    (void)body_read_standing(f, &standing, NULL);
    if (body_read_pass(f, &pass, NULL) == 0)
        free(pass.body);
    pass_on(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char lx02[] = "{\"protocol\":1,\"name\":\"lx02\",\"boot\":\"b1\",\"instance\":\"i1\"}";
    if (size < 1 || size > FRAME_BODY_BYTES_MAX)
        return 0;
    CLEANUP_FREE char *body = mem_dup_len((const char *)data + 1, size - 1);
    struct frame f = {.type = data[0], .body = body, .len = size - 1};
    struct frame hello = {.type = FRAME_HELLO, .body = lx02, .len = sizeof lx02 - 1};
    if (f.type == FRAME_HELLO)
        fold(&f, &f);
    else if (f.type == FRAME_HEARTBEAT || f.type == FRAME_INVENTORY || f.type == FRAME_FINGERPRINT ||
             f.type == FRAME_COMPONENTS)
        fold(&hello, &f);
    else if (f.type >= FRAME_CHECKLIST)
        read_of_checks(&f);
    else
        read_from_controller(&f);
    return 0;
}
