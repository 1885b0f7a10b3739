/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command.h"
#include "cluster/command/shape.h"

COMMAND_SHAPE(controller, controller_command, TEXT(controller_command, name), TEXT(controller_command, key),
              TEXT(controller_command, envelope));
