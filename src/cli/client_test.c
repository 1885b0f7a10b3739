/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/client.h"

#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int take(const char *text, const char *name, struct client *c, struct err *e)
{
    struct conf file = {0};
    int r = conf_parse("client.conf", text, strlen(text), CONF_RECORDS, &file, e);
    if (r == 0)
        r = client_take(&file, name, c, e);
    conf_fini(&file);
    return r;
}

static const char two[] =
    "# of the site\n"
    "Name=prod Controller=https://ctl:8443 Cert=/k/ann.pem Key=/k/ann.key CA=/k/ca.pem\n"
    "Name=test Controller=/run/test.sock Timeout=5s Default=yes\n";

static void a_controller_is_found_by_its_name(void **state)
{
    struct client c;
    struct err e = {0};
    assert_int_equal(take(two, "prod", &c, &e), 1);
    assert_string_equal(c.controller, "https://ctl:8443");
    assert_string_equal(c.cert, "/k/ann.pem");
    assert_string_equal(c.key, "/k/ann.key");
    assert_string_equal(c.ca, "/k/ca.pem");
    assert_null(c.timeout);
    client_fini(&c);
    assert_int_equal(take(two, "prod2", &c, &e), 0);
}

static void without_a_name_it_is_the_default(void **state)
{
    struct client c;
    struct err e = {0};
    assert_int_equal(take(two, NULL, &c, &e), 1);
    assert_string_equal(c.controller, "/run/test.sock");
    assert_string_equal(c.timeout, "5s");
    client_fini(&c);
    assert_int_equal(take("Name=a Controller=/s Default=no\n", NULL, &c, &e), 0);
}

static void mistakes_are_told_with_their_line(void **state)
{
    static const char *const cases[][2] = {
        {"Name=a\n", "client.conf:1: a controller needs its Controller"},
        {"Controller=/s\n", "client.conf:1: a controller needs its Name"},
        {"Name=a Controller=b\n",
         "client.conf:1: \"b\" is neither the path of a socket nor https://HOST:PORT"},
        {"Name=a/b Controller=/s\n",
         "client.conf:1: \"a/b\" cannot be a name: it is empty, or has \"/\" or \":\" in it"},
        {"\nName=a Controller=/s Kye=/k\n",
         "client.conf:2: unknown key \"Kye\"; the nearest known is \"Key\""},
        {"Name=a Controller=/s Key=k\n", "client.conf:1: Key = \"k\" is no absolute path"},
        {"Name=a Controller=/s Default=perhaps\n",
         "client.conf:1: Default: \"perhaps\" is neither yes nor no"},
        {"Name=prod Controller=/s\nName=prod Controller=/t\n",
         "client.conf:2: \"prod\": there is one before it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct client c;
        struct err e = {0};
        int r = take(cases[i][0], "prod", &c, &e);
        if (r != -EINVAL || strcmp(e.msg, cases[i][1]) != 0)
            fail_msg("%s: %d %s", cases[i][0], r, e.msg);
    }
}

static void the_user_s_file_is_read_and_none_is_no_error(void **state)
{
    char home[] = "/tmp/fettle-client-XXXXXX", path[64], dir[48];
    struct client c;
    struct err e = {0};
    assert_non_null(mkdtemp(home));
    snprintf(dir, sizeof dir, "%s/fettle", home);
    snprintf(path, sizeof path, "%s/client.conf", dir);
    setenv("XDG_CONFIG_HOME", home, 1);
    assert_int_equal(client_find("here", &c, &e), -ENOENT);
    assert_string_equal(e.msg,
                        "no controller \"here\" in client.conf; a socket is named by its path, as ./here");
    assert_int_equal(mkdir(dir, 0700), 0);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs("Name=here Controller=/run/here.sock\n", f);
    fclose(f);
    assert_int_equal(client_find("here", &c, &e), 1);
    assert_string_equal(c.controller, "/run/here.sock");
    client_fini(&c);
    unlink(path);
    rmdir(dir);
    rmdir(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_controller_is_found_by_its_name),
        cmocka_unit_test(without_a_name_it_is_the_default),
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(the_user_s_file_is_read_and_none_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
