/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/command/command.h"
#include "cluster/command/shape.h"

#define TERMS(s, m) \
    VALUE(s, m.serial), VALUE(s, m.key), WORD(s, m.role), VALUE(s, m.from.ns), VALUE(s, m.until.ns)

COMMAND_SHAPE(token_made, token_create_command, TEXT(token_create_command, hash),
              VALUE(token_create_command, expires.ns), VALUE(token_create_command, count),
              VALUE(token_create_command, again), TEXT(token_create_command, from),
              TEXT(token_create_command, uuid));
COMMAND_SHAPE(token_use, token_use_command, TEXT(token_use_command, hash), TERMS(token_use_command, terms),
              TEXT(token_use_command, address), TEXT(token_use_command, machine));
COMMAND_SHAPE(token_ended, token_end_command, TEXT(token_end_command, id));
COMMAND_SHAPE(certificate, certificate_command, TEXT(certificate_command, subject),
              TERMS(certificate_command, terms));
COMMAND_SHAPE(renew, renew_command, TERMS(renew_command, next), TERMS(renew_command, of));
COMMAND_SHAPE(used, used_command, VALUE(used_command, serial));
COMMAND_SHAPE(revoke, revoke_command, TEXT(revoke_command, subject), VALUE(revoke_command, one),
              VALUE(revoke_command, serial));
