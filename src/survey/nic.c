/* SPDX-License-Identifier: Apache-2.0 */
#include "survey/apart.h"
#include "survey/part.h"

#include <errno.h>
#include <string.h>

/*
 * /sys shows which cards there are. Their drivers are asked in a child process: the kernel answers under a
 * lock, and a card that does not answer keeps the lock.
 */

static const char CLASS[] = "sys/class/net";

struct asking {
    const struct survey_calls *calls;
    const struct devices *cards;
    char release[SYS_TEXT_BYTES_MAX]; /* the kernel's limit */
};

/* The kernel's own drivers have its release for a version, cut to the 31 bytes that there are. */
static bool in_tree(const char *version, const char *release)
{
    return *version &&
           (strcmp(version, release) == 0 || (strlen(version) == 31 && strncmp(version, release, 31) == 0));
}

static void nic_say(const char *interface, const char *what, const char *value)
{
    char name[SYS_TEXT_BYTES_MAX];
    bool none = !*value || strcmp(value, "N/A") == 0;
    snprintf(name, sizeof name, "%.64s/%s", interface, what);
    apart_say(name, none ? COMPONENT_ABSENT : COMPONENT_VALUE, none ? "" : value);
}

static void say_error(const char *interface, const char *what, int code)
{
    char name[SYS_TEXT_BYTES_MAX];
    snprintf(name, sizeof name, "%.64s/%s", interface, what);
    if (code == -EOPNOTSUPP)
        apart_say(name, COMPONENT_ABSENT, "");
    else
        apart_say(name, COMPONENT_UNKNOWN, strerror(-code));
}

static void nic_ask(void *asking)
{
    const struct asking *a = asking;
    for (size_t i = 0; i < a->cards->n; i++) {
        const char *interface = a->cards->list[i].name;
        char driver[33] = "", version[33] = "", firmware[33] = "";
        int r = a->calls->driver(a->calls->arg, interface, driver, version, firmware);
        if (r < 0) {
            say_error(interface, "version", r);
            say_error(interface, "firmware", r);
            continue;
        }
        nic_say(interface, "driver", driver);
        nic_say(interface, "version", in_tree(version, a->release) ? "in-tree" : version);
        nic_say(interface, "firmware", firmware);
    }
}

/* The stand-ins for the virtual functions of a card, whose number changes. */
static bool stands_in(const struct notes *said, const char *interface)
{
    char name[SYS_TEXT_BYTES_MAX];
    snprintf(name, sizeof name, "%.64s/driver", interface);
    const struct note *driver = notes_find(said, name);
    size_t len = driver ? strlen(driver->value) : 0;
    return len > 4 && strcmp(driver->value + len - 4, "_rep") == 0;
}

static void note_card(const struct reading *r, struct notes *n, const struct device *card,
                      const struct notes *said, const char *why)
{
    char path[SYS_LINE_BYTES_MAX], from[SYS_TEXT_BYTES_MAX], name[SYS_TEXT_BYTES_MAX];
    snprintf(path, sizeof path, "%s/%s/device", CLASS, card->name);
    CLEANUP_FD int dir = sys_open_dir(r->root, path);
    notes_link(n, dir, "driver", "nic.%s.driver", card->address);
    snprintf(name, sizeof name, "nic.%.100s.model", card->address);
    device_model(n, dir, name);
    snprintf(from, sizeof from, "%.64s/version", card->name);
    notes_expect(n, said, from, why, "nic.%s.version", card->address);
    snprintf(from, sizeof from, "%.64s/firmware", card->name);
    notes_expect(n, said, from, why, "nic.%s.firmware", card->address);
}

void card_read(const struct reading *r, struct notes *n)
{
    struct devices cards = {0};
    CLEANUP_NOTES struct notes said = {0};
    struct err why = {0};
    int failed = devices_read(r->root, CLASS, false, &cards);
    if (failed) {
        notes_lost(n, failed, "/sys/class/net", "nic");
        devices_fini(&cards);
        return;
    }
    struct asking a = {.calls = r->calls, .cards = &cards};
    sys_text(r->root, "proc/sys/kernel/osrelease", a.release);
    if (cards.n > 0)
        apart_notes(-1, reading_timeout(r, CARDS_MS_MAX), nic_ask, &a, &said, &why);
    for (size_t i = 0; i < cards.n; i++)
        if (!stands_in(&said, cards.list[i].name))
            note_card(r, n, &cards.list[i], &said, why.msg);
    notes_number(n, devices_count(&cards), "nic.count");
    devices_fini(&cards);
}
