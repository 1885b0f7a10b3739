/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"
#include "agent/checker/local.h"
#include "agent/fingerprint/surveyor.h"
#include "agent/home/home.h"
#include "agent/home/join.h"
#include "agent/home/join_file.h"
#include "agent/prolog/prolog.h"
#include "agent/prolog/prolog_line.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/text.h"
#include "probe/family.h"
#include "probe/probe.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <nss.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { INTERVAL_S_MAX = 86400, INTERVAL_S_DEFAULT = 10, EXIT_USAGE = 2 };

static const char USAGE[] =
    "usage: fettle-agent [-c HOST[:PORT]]... [-D STATE_DIR] [-i INTERVAL] [-r ROOT] [-p COLLECT_PORT] [-d "
    "FLAGS]\n"
    "       fettle-agent join TOKEN HOST[:PORT] [--name NAME] [-D STATE_DIR] [--again]\n"
    "       fettle-agent join --token-file FILE HOST[:PORT] [--name NAME] [-D STATE_DIR] [--again]\n"
    "       fettle-agent join --at-boot [--root IMAGE] TOKEN HOST[:PORT]\n"
    "       fettle-agent join [--root IMAGE] [--name NAME] [-D STATE_DIR]\n"
    "       fettle-agent fingerprint [--components] [-D STATE_DIR] [-r ROOT]\n"
    "       fettle-agent check --local [--root ROOT] [--conf FILE] [-D STATE_DIR] [NAME]...\n"
    "       fettle-agent prolog | epilog | task-prolog | task-epilog [-r ROOT]\n"
    "       fettle-agent --help | --version\n";

struct daemon {
    uv_loop_t *loop;
    uv_signal_t terminate, interrupt;
    uv_timer_t watchdog;
    struct agent *agent;
    int status;
};

static int main_complain(const struct err *e)
{
    fprintf(stderr, "fettle-agent: %s\n", e->msg);
    return err_exit(e->code);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct daemon *d = signal->data;
    log_info("ends: %s", strsignal(number));
    notify_stopping();
    agent_stop(d->agent);
}

static void on_watchdog(uv_timer_t *timer)
{
    notify_watchdog();
}

static void on_done(void *arg, const struct err *why)
{
    struct daemon *d = arg;
    if (why)
        log_error("%s", why->code ? why->msg : "the controller closed the link");
    d->status = why ? (why->code ? err_exit(why->code) : EXIT_FAILURE) : EXIT_SUCCESS;
    uv_close((uv_handle_t *)&d->terminate, NULL);
    uv_close((uv_handle_t *)&d->interrupt, NULL);
    uv_close((uv_handle_t *)&d->watchdog, NULL);
}

static int main_run(const struct agent_settings *settings)
{
    struct daemon d = {.loop = uv_default_loop()};
    struct err e = {0};
    int r = agent_start(d.loop, settings, on_done, &d, &d.agent, &e);
    if (r)
        return main_complain(&e);
    uv_signal_init(d.loop, &d.terminate);
    uv_signal_init(d.loop, &d.interrupt);
    uv_timer_init(d.loop, &d.watchdog);
    d.terminate.data = d.interrupt.data = &d;
    uv_signal_start(&d.terminate, on_signal, SIGTERM);
    uv_signal_start(&d.interrupt, on_signal, SIGINT);
    uint64_t watchdog_ms = (uint64_t)span_to_ms(notify_watchdog_interval());
    if (watchdog_ms)
        uv_timer_start(&d.watchdog, on_watchdog, watchdog_ms, watchdog_ms);
    notify_ready();
    uv_run(d.loop, UV_RUN_DEFAULT);
    return d.status;
}

static int option_number(const char *option, const char *text, uint64_t max, uint64_t *out, struct err *e)
{
    int r = text_parse_u64(text, 0, max, out, e);
    return r ? err_wrap(e, r, "%s", option) : 0;
}

static int take_option(int option, struct agent_settings *s, struct address_list *controllers, struct err *e)
{
    uint64_t n;
    uint32_t flags;
    int r = 0;
    switch (option) {
    case 'c': r = address_list_add(controllers, optarg, e); return r ? err_wrap(e, r, "-c") : 0;
    case 'D': s->home = optarg; break;
    case 'r': s->root = optarg; break;
    case 'i':
        r = option_number("-i", optarg, INTERVAL_S_MAX, &n, e);
        s->interval = span_s(r ? 0 : (int64_t)n);
        s->once = !r && n == 0;
        break;
    case 'p':
        r = option_number("-p", optarg, UINT16_MAX, &n, e);
        s->collect_port = r ? 0 : (int)n;
        break;
    case 'd':
        r = log_parse_flags(optarg, &flags, e);
        if (!r)
            log_set_flags(flags);
        return r ? err_wrap(e, r, "-d") : 0;
    default: break;
    }
    return r;
}

/* getopt has said what is wrong with an option; else `what` says it. */
static int main_usage(const char *what, const char *word)
{
    if (what)
        fprintf(stderr, "fettle-agent: %s%s\n", what, word);
    fputs("\"fettle-agent --help\" lists the options\n", stderr);
    return EXIT_USAGE;
}

static int daemon_main(int argc, char **argv)
{
    struct address_list controllers = {0};
    struct agent_settings s = {.home = HOME_DEFAULT,
                               .root = "",
                               .controllers = &controllers,
                               .interval = span_s(INTERVAL_S_DEFAULT),
                               .collect_port = -1};
    struct err e = {0};
    for (int option; (option = getopt(argc, argv, "c:D:i:r:p:d:")) != -1;) {
        if (option == '?')
            return main_usage(NULL, NULL);
        if (take_option(option, &s, &controllers, &e))
            return main_complain(&e);
    }
    if (optind < argc)
        return main_usage("it does not know the word ", argv[optind]);
    family_settle();
    return main_run(&s);
}

static void on_joined(void *arg, const struct err *why)
{
    struct err *e = arg;
    if (why)
        *e = *why;
}

static int main_join(const struct join_request *request)
{
    struct err e = {0}, why = {0};
    if (join_start(uv_default_loop(), request, on_joined, &why, &e))
        return main_complain(&e);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    if (why.code)
        return main_complain(&why);
    printf("%s has joined; start the agent with \"systemctl enable --now fettle-agent\" or \"fettle-agent -D "
           "%s\"\n",
           request->name, request->home);
    return EXIT_SUCCESS;
}

/* The first line of a file, or of standard input. */
static int read_token(const char *path, char token[static JOIN_TOKEN_BYTES_MAX], struct err *e)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "re");
    int r = 0;
    if (!f)
        return err_set(e, -errno, "%s: %s", path, strerror(errno));
    if (!fgets(token, JOIN_TOKEN_BYTES_MAX, f))
        r = err_set(e, -EINVAL, "there is no token in %s", standard ? "standard input" : path);
    if (!standard)
        fclose(f);
    if (r == 0)
        token[strcspn(token, " \t\r\n")] = '\0';
    return r;
}

/* The arguments are TOKEN HOST, or HOST alone with a file, or none: then the image's file counts. */
static int join_words(int n, char **words, const char *file, struct join_request *request, struct address *at,
                      const char *root, char token[static JOIN_TOKEN_BYTES_MAX])
{
    struct err e = {0};
    if (n == 0 && !file) {
        request->token = token;
        return join_file_read(root, token, at, &e) ? main_complain(&e) : 0;
    }
    if (n != (file ? 1 : 2))
        return main_usage(file ? "join with --token-file needs a HOST[:PORT], and no more"
                               : "join needs a TOKEN and a HOST[:PORT]",
                          !file && n > 2 ? ", and no more" : "");
    if (!file && strcmp(words[0], "-") == 0)
        file = "-";
    request->token = file ? token : words[0];
    if (address_parse(words[n - 1], at, &e) || (file && read_token(file, token, &e)))
        return main_complain(&e);
    return 0;
}

/* For the boots of an image. A malformed token is found here, and not by a hundred machines. */
static int join_later(const struct join_request *request, const char *root)
{
    struct err e = {0};
    if (join_check_token(request->token, &e) ||
        join_file_write(root, request->token, request->controller, &e))
        return main_complain(&e);
    printf("machines that boot with %s" JOIN_FILE_PATH " join by themselves\n", root);
    return EXIT_SUCCESS;
}

static int join_main(int argc, char **argv)
{
    enum { NAME = 256, AGAIN, TOKEN_FILE, AT_BOOT, ROOT };
    static const struct option options[] = {{"name", required_argument, NULL, NAME},
                                            {"again", no_argument, NULL, AGAIN},
                                            {"token-file", required_argument, NULL, TOKEN_FILE},
                                            {"at-boot", no_argument, NULL, AT_BOOT},
                                            {"root", required_argument, NULL, ROOT},
                                            {0}};
    char host[256] = "", token[JOIN_TOKEN_BYTES_MAX] = "", machine[37] = "";
    const char *file = NULL, *root = "";
    bool at_boot = false;
    struct address controller;
    struct join_request request = {
        .home = HOME_DEFAULT, .name = host, .machine = machine, .controller = &controller};
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = 0;
    for (int option; (option = getopt_long(argc, argv, "D:", options, NULL)) != -1;) {
        switch (option) {
        case 'D': request.home = optarg; break;
        case NAME: request.name = optarg; break;
        case AGAIN: request.again = true; break;
        case TOKEN_FILE: file = optarg; break;
        case AT_BOOT: at_boot = true; break;
        case ROOT: root = optarg; break;
        default: return main_usage(NULL, NULL);
        }
    }
    if (at_boot && optind == argc)
        return main_usage("join --at-boot needs a TOKEN and a HOST[:PORT]", "");
    probe_machine("", machine);
    int status = join_words(argc - optind, argv + optind, file, &request, &controller, root, token);
    if (status)
        return status;
    return at_boot ? join_later(&request, root) : main_join(&request);
}

/* As it was told when it joined, for its own name is taken out of what it reads. */
static char *own_name(const char *home)
{
    struct home_identity id = {0};
    char host[256] = "";
    if (home_load(home, &id, NULL) == 0) {
        char *name = mem_dup(id.name);
        home_identity_fini(&id);
        return name;
    }
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = 0;
    return mem_dup(host);
}

static void print_components(const struct components *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct component *c = &list->list[i];
        CLEANUP_TEXT struct text value = {0};
        text_add_json(&value, c->value);
        printf("%s %s %s\n", c->name, component_state_name(c->state), value.s);
    }
}

static int print_fingerprint(const char *home, const char *root, bool components)
{
    CLEANUP_FREE char *name = own_name(home);
    const struct hostlist also = {0};
    struct survey_cache cache = {0};
    struct components list = {0};
    struct err e = {0};
    char hex[FINGERPRINT_HEX + 1];
    int r = surveyor_read(root, name, &also, &cache, &list, &e);
    if (!r) {
        struct fingerprint id = components_fingerprint(&list);
        puts(fingerprint_format(&id, hex));
        if (components)
            print_components(&list);
    }
    survey_cache_fini(&cache);
    components_fini(&list);
    return r ? main_complain(&e) : EXIT_SUCCESS;
}

static int fingerprint_main(int argc, char **argv)
{
    enum { COMPONENTS = 256 };
    static const struct option options[] = {{"components", no_argument, NULL, COMPONENTS}, {0}};
    const char *home = HOME_DEFAULT, *root = "";
    bool components = false;
    for (int option; (option = getopt_long(argc, argv, "D:r:", options, NULL)) != -1;) {
        switch (option) {
        case 'D': home = optarg; break;
        case 'r': root = optarg; break;
        case COMPONENTS: components = true; break;
        default: return main_usage(NULL, NULL);
        }
    }
    return optind < argc ? main_usage("it does not know the word ", argv[optind])
                         : print_fingerprint(home, root, components);
}

static int check_main(int argc, char **argv)
{
    enum { LOCAL = 256, CONF };
    static const struct option options[] = {{"local", no_argument, NULL, LOCAL},
                                            {"root", required_argument, NULL, 'r'},
                                            {"conf", required_argument, NULL, CONF},
                                            {0}};
    struct local_request q = {.root = ""};
    const char *home = HOME_DEFAULT;
    struct err e = {0};
    bool local = false;
    int status = 0;
    for (int option; (option = getopt_long(argc, argv, "D:r:", options, NULL)) != -1;) {
        switch (option) {
        case 'D': home = optarg; break;
        case 'r': q.root = optarg; break;
        case LOCAL: local = true; break;
        case CONF: q.conf = optarg; break;
        default: return main_usage(NULL, NULL);
        }
    }
    if (!local)
        return main_usage("check needs --local; with a controller it is \"fettle check run\"", "");
    CLEANUP_FREE char *name = own_name(home);
    q.node = name;
    q.home = home;
    q.names = argv + optind;
    q.n_names = (size_t)(argc - optind);
    if (local_check(uv_default_loop(), &q, stdout, &status, &e) == 0)
        return status;
    main_complain(&e);
    return err_exit(e.code) == EXIT_FAILURE ? EXIT_USAGE : err_exit(e.code); /* 1 says that something fails */
}

/* Slurm gives it no arguments; a word that it does not know must keep no job away. */
static int prolog_of(int argc, char **argv)
{
    const char *root = "";
    for (int i = 2; i + 1 < argc; i++)
        if (strcmp(argv[i], "-r") == 0)
            root = argv[++i];
    return prolog_main(argv[1], root);
}

static bool asks_for_help(int argc, char **argv)
{
    bool help = argc > 1 && strcmp(argv[1], "-h") == 0;
    for (int i = 1; i < argc; i++)
        help = help || strcmp(argv[i], "--help") == 0;
    return help;
}

int main(int argc, char **argv)
{
    /* The size of this process is a promise: one arena, and no threads but the one that looks up names. */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 64 << 10);
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    signal(SIGPIPE, SIG_IGN);
#ifdef FETTLE_STATIC /* other name services are libraries of another release of glibc */
    __nss_configure_lookup("hosts", "files dns");
#endif
    if (argc > 1 && prolog_kind_find(argv[1]))
        return prolog_of(argc, argv);
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts("fettle-agent " FETTLE_VERSION);
        return EXIT_SUCCESS;
    }
    if (asks_for_help(argc, argv)) {
        fputs(USAGE, stdout);
        return EXIT_SUCCESS;
    }
    int (*command)(int argc, char **argv) = NULL;
    if (argc > 1 && strcmp(argv[1], "join") == 0)
        command = join_main;
    else if (argc > 1 && strcmp(argv[1], "fingerprint") == 0)
        command = fingerprint_main;
    else if (argc > 1 && strcmp(argv[1], "check") == 0)
        command = check_main;
    if (command) {
        argv[1] = argv[0]; /* by which getopt begins its sentences */
        return command(argc - 1, argv + 1);
    }
    return daemon_main(argc, argv);
}
