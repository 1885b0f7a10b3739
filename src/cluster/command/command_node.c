/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command.h"
#include "cluster/command/shape.h"

COMMAND_SHAPE(release, release_command, TEXT(release_command, claim));
SHAPE(field_setting, VALUE(field_setting, field), TEXT(field_setting, value));
COMMAND_SHAPE(edit, set_command, LIST(set_command, settings, n, field_setting));
COMMAND_SHAPE(forget, forget_command, VALUE(forget_command, force));
SHAPE(boot_id, WORD(boot_id, id));
COMMAND_SHAPE(admit, admit_command, LIST(admit_command, boots, n, boot_id));
SHAPE(machine_news, WORD(machine_news, machine), WORD(machine_news, was));
COMMAND_SHAPE(machine, machine_command, LIST(machine_command, machines, n, machine_news));
SHAPE(component, TEXT(component, name), TEXT(component, value), VALUE(component, state));
SHAPE(bmc_news, LIST(bmc_news, components, n, component));
COMMAND_SHAPE(bmc, bmc_command, LIST(bmc_command, bmcs, n, bmc_news));
COMMAND_SHAPE(window, window_command, TEXT(window_command, by), TEXT(window_command, why));
SHAPE(remedy_name, WORD(remedy_name, name));
COMMAND_SHAPE(instance, instance_command, WORD(instance_command, was), WORD(instance_command, is),
              VALUE(instance_command, act), VALUE(instance_command, examine), WORD(instance_command, boot),
              VALUE(instance_command, instance), VALUE(instance_command, deadline_s),
              LIST(instance_command, keep, n, remedy_name));
COMMAND_SHAPE(effect, effect_command, TEXT(effect_command, key), TEXT(effect_command, done));
