/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FETTLE_CLI_COMMAND_H
#define FETTLE_CLI_COMMAND_H

#include "base/err.h"
#include "base/text.h"
#include "fettle.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The commands of the tool, and one call of it: which command, with which arguments and options.
 */

/* What an argument names, where completion knows the candidates. */
enum subject {
    SUBJECT_NONE,
    SUBJECT_NODE,
    SUBJECT_CHECK,
    SUBJECT_REMEDY,
    SUBJECT_TOKEN,
    SUBJECT_CLASS,
    SUBJECT_OWNER,
    SUBJECT_CONTROLLER,
    SUBJECT_CLAIM,  /* on the nodes named before */
    SUBJECT_FIELD,  /* of the records that the command lists */
    SUBJECT_FILTER, /* the same, before a sign and a value */
    SUBJECT_FORM,   /* of the output */
    /* The words of choice.tbl. */
    SUBJECT_VERB,
    SUBJECT_TRANSITION,
    SUBJECT_ROLE,
    SUBJECT_WHEN
};

enum option {
#define OPTION(symbol, letter, name, argument, subject, what) OPTION_##symbol,
#define GROUP(title)
#define COMMAND(path, arguments, subjects, least, most, options, function, what)
#include "cli/command.tbl"
#undef OPTION
#undef GROUP
#undef COMMAND
    OPTIONS
};

struct option_info {
    char letter; /* 0 for none */
    const char *name, *argument;
    enum subject subject;
    const char *what;
};
const struct option_info *option_info(enum option o);

/* One call of the tool. */
struct call {
    const struct command *command;
    const char **args; /* borrowed from argv */
    size_t n_args;
    const char *value[OPTIONS]; /* the last value given; "" for a switch; NULL when not given */
    const char **wheres;        /* every --where */
    size_t n_wheres;
    bool yaml;             /* YAML instead of JSON, for commands that list no records */
    char *reason;          /* the value of OPTION_REASON when it has several words */
    struct fettle *fettle; /* made by call_controller */
    struct text out;       /* the output */
};

/* 0, a negative errno with a sentence, or a positive exit status. */
typedef int command_fn(struct call *c, struct err *e);

struct command {
    const char *path, *arguments;
    enum subject subjects[2]; /* of its arguments; the last one repeats where there may be more */
    size_t n_subjects;
    size_t least, most;
    uint64_t options; /* 1 << enum option */
    command_fn *run;
    const char *what;
};
/* A bit of options beside those of the enum: --where selects the command's nodes. */
static const uint64_t COMMAND_SELECTS = UINT64_C(1) << 63;
extern const struct command commands[];
extern const size_t commands_n;

/* What its argument i names, counted from 0. */
enum subject command_subject(const struct command *k, size_t i);
/* The command of exactly this path; NULL. */
const struct command *command_find_path(const char *path);
/* The first `used` of n words are a command's path, and it cannot take the rest. -EINVAL with the commands
 * that may be meant, when other paths begin with the same words ("queue" and "queue take"); otherwise 0. */
int command_check_group(const char *const *words, size_t used, size_t n, struct err *e);
/* Explains why these words, at least one, are not a command. -EINVAL. */
int command_unknown(const char *const *words, size_t n, struct err *e);

/* Parses the words after the program's name into c, which is empty. -EINVAL with a sentence. With -h, the
 * command is `help` and its arguments are the path. */
int call_parse(struct call *c, char **words, size_t n, struct err *e);
void call_fini(struct call *c);
/* The command whose path the words begin with, and the length of the path in words; NULL for none. */
const struct command *call_find(const char *const *words, size_t n, size_t *used);
/* Options that every command takes. */
uint64_t call_options(void);

static inline bool call_has(const struct call *c, enum option o)
{
    return c->value[o] != NULL;
}

static inline bool call_selects(const struct call *c)
{
    return (c->command->options & COMMAND_SELECTS) != 0;
}

/* The controller; connects at the first use. NULL with the code and sentence in *e. */
struct fettle *call_controller(struct call *c, struct err *e);

/* Converts an error of libfettle. Returns r. */
int call_told(int r, const struct fettle_error *from, struct err *e);

/* 0 when the call says why; -EINVAL. */
int call_needs_reason(const struct call *c, struct err *e);

/* A question without arguments. */
typedef int call_answer_fn(struct fettle *f, struct fettle_answer **out, struct fettle_error *e);
int call_answer(struct call *c, call_answer_fn *fn, struct fettle_answer **answer, struct err *e);

/* A question about the thing that the first argument names. */
typedef int call_about_fn(struct fettle *f, const char *name, struct fettle_answer **out,
                          struct fettle_error *e);
int call_about(struct call *c, call_about_fn *fn, struct fettle_answer **answer, struct err *e);

/* Writes c->out to fd and empties it. -EIO or -ENOSPC with a sentence. CALL_CUT, without a sentence, when the
 * reader of a pipe is gone, as with `head`: the exit status of a program that SIGPIPE ends. */
enum { CALL_CUT = 128 + SIGPIPE };
int call_flush(struct call *c, int fd, struct err *e);

/* The overview of commands, or one command in full. path NULL for the overview. -EINVAL when there is no such
 * command. */
int help_write(struct text *out, const char *path, struct err *e);

command_fn owner_list, owner_show, owner_claim, owner_release, owner_transfer;
command_fn node_list, node_show, node_claims, node_drain, node_undrain, node_down, node_up, node_set,
    node_watch, partition_list, status_show, event_follow, journal_list, config_reload, token_create,
    token_list, token_end, controller_list, controller_admit, controller_remove, cert_create, cert_list,
    cert_revoke, whoami_show, version_show, help_show, greet_show, complete_show, conform_groups,
    conform_diff, conform_history, conform_why_not, conform_recheck, conform_approve, class_list,
    baseline_accept, baseline_show, baseline_diff, baseline_history, baseline_revert, rollout_start,
    rollout_show, rollout_accept, rollout_revert, place_nodes, slurm_features, slurm_constraint, check_list,
    check_show, check_explain, check_run, check_trials, incident_list, remedy_list, remedy_explain,
    repair_show, repair_move, repair_numbers, repair_approve, repair_refuse, queue_take, queue_note,
    queue_resolve, queue_retire, queue_list, repair_list, override_list, override_set, override_end,
    brake_stop, brake_release, brake_list, power_nodes, audit_list, audit_show, audit_prove, audit_verify,
    audit_export;

command_fn node_forget, import_slurm_files, import_nhc_file, backup_make, backup_show, backup_check,
    backup_bring;

#endif
