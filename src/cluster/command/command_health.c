/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command.h"
#include "cluster/command/shape.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const char *const by_hand_names[BY_HANDS] = {
#define TRANSITION(symbol, name) [BY_HAND_##symbol] = name,
#include "cluster/command/transition.tbl"
#undef TRANSITION
};

const char *by_hand_name(enum by_hand h)
{
    assert(h < BY_HANDS);
    return by_hand_names[h];
}

int by_hand_parse(const char *name, enum by_hand *out, struct err *e)
{
    CLEANUP_TEXT struct text all = {0};
    for (int h = 0; h < BY_HANDS; h++) {
        if (strcmp(name, by_hand_names[h]) == 0) {
            *out = (enum by_hand)h;
            return 0;
        }
        text_printf(&all, "%s%s", h ? ", " : "", by_hand_names[h]);
    }
    return err_set(e, -EINVAL, "\"%.40s\" is no transition: %s", name, all.s);
}

/* --- what the structs are made of ------------------------------------------------------------- */

SHAPE(finding_news, WORD(finding_news, of.check), VALUE(finding_news, of.f.result),
      WORD(finding_news, of.f.device), WORD(finding_news, of.f.code), WORD(finding_news, of.f.text),
      VALUE(finding_news, of.f.count), VALUE(finding_news, of.f.others), WORD(finding_news, of.f.work),
      WORD(finding_news, of.f.user), VALUE(finding_news, of.at.ns), VALUE(finding_news, of.times),
      VALUE(finding_news, counts));
SHAPE(incident_news, WORD(incident_news, id), WORD(incident_news, group), VALUE(incident_news, severity),
      VALUE(incident_news, act), VALUE(incident_news, recurs), VALUE(incident_news, observe),
      LIST(incident_news, findings, n, finding_news));
SHAPE(incident_end, WORD(incident_end, id), TEXT(incident_end, how));
SHAPE(incident_job, WORD(incident_job, id), WORD(incident_job, user));
COMMAND_SHAPE(findings, findings_command, WORD(findings_command, boot),
              LIST(findings_command, open, n_open, incident_news),
              LIST(findings_command, close, n_close, incident_end),
              LIST(findings_command, jobs, n_jobs, incident_job), TEXT(findings_command, isolate.why),
              WORD(findings_command, isolate.problem), VALUE(findings_command, isolate.deadline_s),
              VALUE(findings_command, isolate.event), VALUE(findings_command, isolate.surge));
COMMAND_SHAPE(shared, shared_command, TEXT(shared_command, key), TEXT(shared_command, nodes),
              TEXT(shared_command, why), VALUE(shared_command, severity));
COMMAND_SHAPE(repair, repair_command, WORD(repair_command, id), VALUE(repair_command, from),
              VALUE(repair_command, to), VALUE(repair_command, event), TEXT(repair_command, why),
              WORD(repair_command, problem), WORD(repair_command, boot), VALUE(repair_command, instance),
              VALUE(repair_command, deadline_s), WORD(repair_command, remedy),
              VALUE(repair_command, approval), VALUE(repair_command, cost), VALUE(repair_command, examined),
              VALUE(repair_command, inconclusive), VALUE(repair_command, attempt.verdict),
              WORD(repair_command, attempt.remedy), WORD(repair_command, attempt.fault),
              VALUE(repair_command, attempt.done), TEXT(repair_command, attempt.text),
              VALUE(repair_command, attempt.refusal), VALUE(repair_command, restarted),
              VALUE(repair_command, renewed), WORD(repair_command, machine));
SHAPE(ran_check, WORD(ran_check, check), VALUE(ran_check, result));
COMMAND_SHAPE(operate, operate_command, WORD(operate_command, id), VALUE(operate_command, step),
              TEXT(operate_command, run), WORD(operate_command, of), WORD(operate_command, boot),
              VALUE(operate_command, deadline_s), LIST(operate_command, ran, n_ran, ran_check));
SHAPE(fault_name, TEXT(fault_name, name));
COMMAND_SHAPE(outcome, outcome_command, WORD(outcome_command, remedy), VALUE(outcome_command, at.ns),
              WORD(outcome_command, class), VALUE(outcome_command, verdict),
              LIST(outcome_command, faults, n, fault_name));
COMMAND_SHAPE(transition, transition_command, VALUE(transition_command, what),
              VALUE(transition_command, deadline_s), VALUE(transition_command, answers),
              VALUE(transition_command, yields));
SHAPE(finding_name, TEXT(finding_name, fault), TEXT(finding_name, device));
COMMAND_SHAPE(answer, answer_command, VALUE(answer_command, deadline_s),
              LIST(answer_command, findings, n, finding_name));
COMMAND_SHAPE(ticket, ticket_command, VALUE(ticket_command, what));
COMMAND_SHAPE(approval, approval_command, TEXT(approval_command, remedy));
COMMAND_SHAPE(switched, switch_command, TEXT(switch_command, name), VALUE(switch_command, on));
COMMAND_SHAPE(override, override_command, TEXT(override_command, by), TEXT(override_command, source),
              TEXT(override_command, key), TEXT(override_command, done));
COMMAND_SHAPE(override_of, override_of_command, VALUE(override_of_command, of.ns),
              VALUE(override_of_command, spent_s));
COMMAND_SHAPE(trial_begin, trial_begin_command, WORD(trial_begin_command, check),
              VALUE(trial_begin_command, deadline_s), TEXT(trial_begin_command, examines));
SHAPE(trial_result, TEXT(trial_result, node), VALUE(trial_result, result));
COMMAND_SHAPE(trial_end, trial_end_command, WORD(trial_end_command, claim), WORD(trial_end_command, check),
              TEXT(trial_end_command, why), LIST(trial_end_command, results, n, trial_result));
SHAPE(floor_value, WORD(floor_value, what), VALUE(floor_value, value));
SHAPE(floor_node, TEXT(floor_node, name), LIST(floor_node, values, n, floor_value));
COMMAND_SHAPE(measured, measured_command, TEXT(measured_command, class), TEXT(measured_command, check),
              VALUE(measured_command, sum), LIST(measured_command, nodes, n, floor_node));
COMMAND_SHAPE(power, power_command, TEXT(power_command, verb), VALUE(power_command, force));
