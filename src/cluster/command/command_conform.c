/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command.h"
#include "cluster/command/shape.h"

COMMAND_SHAPE(seen, seen_command, VALUE(seen_command, id), TEXT(seen_command, named),
              VALUE(seen_command, count));
SHAPE(boot_id, WORD(boot_id, id));
COMMAND_SHAPE(drift, drift_command, TEXT(drift_command, class), VALUE(drift_command, version),
              VALUE(drift_command, expected), VALUE(drift_command, actual), VALUE(drift_command, severity),
              TEXT(drift_command, named), VALUE(drift_command, count), VALUE(drift_command, braked),
              LIST(drift_command, boots, n, boot_id));
COMMAND_SHAPE(restored, restored_command, VALUE(restored_command, version), VALUE(restored_command, rested));
COMMAND_SHAPE(overdue, overdue_command, VALUE(overdue_command, version));
COMMAND_SHAPE(reboot, reboot_command, LIST(reboot_command, boots, n, boot_id));
COMMAND_SHAPE(revert, revert_command, TEXT(revert_command, class), VALUE(revert_command, version));
COMMAND_SHAPE(rollout_begun, rollout_start_command, TEXT(rollout_start_command, class),
              TEXT(rollout_start_command, node), VALUE(rollout_start_command, version),
              VALUE(rollout_start_command, deadline.ns));
COMMAND_SHAPE(rollout_end, rollout_end_command, TEXT(rollout_end_command, class));
