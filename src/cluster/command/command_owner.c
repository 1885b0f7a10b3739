/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command.h"
#include "cluster/command/shape.h"

COMMAND_SHAPE(own, owner_command, WORD(owner_command, from.person), WORD(owner_command, from.tenant),
              WORD(owner_command, from.vcluster), WORD(owner_command, from.allocation),
              WORD(owner_command, to.person), WORD(owner_command, to.tenant),
              WORD(owner_command, to.vcluster), WORD(owner_command, to.allocation),
              TEXT(owner_command, person));
