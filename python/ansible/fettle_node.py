#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Ansible: nodes are drained by Fettle, or no more."""

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

try:
    import fettle
except ImportError:
    fettle = None

DOCUMENTATION = r"""
module: fettle_node
short_description: Drain nodes of a cluster, or let go of them
description:
  - Has a Fettle controller drain nodes - no new work lands on them, and running work ends first - or removes the drain.
  - A drain is a claim. The claims of others stay, so that a node may be held after C(state=resumed); C(held) says by what.
  - Runs where the controller is, as root, or anywhere with a certificate of the role admin.
requirements: [python3-fettle]
author: [Fettle maintainers]
options:
  nodes:
    description: Host list of the nodes, C(lx[01-64]).
    type: str
    required: true
  state:
    description:
      - With C(drained), a claim of the caller's with this reason rests on each of the nodes.
      - With C(resumed), no drain claim of the caller's does.
    type: str
    choices: [drained, resumed]
    required: true
  reason:
    description: Why; needed to drain. Another reason than before adds a claim.
    type: str
  controller:
    description:
      - The path of the controller's local socket, or C(https://HOST:PORT).
      - Without it, the environment variable C(FETTLE_CONTROLLER), and at last C(/run/fettle/fettled.sock).
    type: str
  cert:
    description: File with the certificate to show, PEM; only for HTTPS.
    type: path
  key:
    description: File with its key, PEM.
    type: path
  ca:
    description: File with the authority that signs controllers, PEM; needed for HTTPS.
    type: path
"""

EXAMPLES = r"""
- name: Drain two nodes for new memory
  fettle_node:
    nodes: lx[07-08]
    state: drained
    reason: new memory

- name: Bring them back, from another machine
  fettle_node:
    nodes: lx[07-08]
    state: resumed
    controller: https://controller.example:6121
    cert: /etc/fettle/ann.pem
    key: /etc/fettle/ann.key
    ca: /etc/fettle/ca.pem
  delegate_to: localhost
"""

RETURN = r"""
nodes:
  description: Host list of the nodes that were changed, or would be in check mode.
  returned: success
  type: str
held:
  description: The claims that hold any of the nodes now.
  returned: success
  type: list
  elements: dict
"""

ADDRESS = {"controller": {"type": "str"}, "cert": {"type": "path"}, "key": {"type": "path", "no_log": False},
           "ca": {"type": "path"}}


def change(parameters, dry_run):
    """What the controller answers."""
    controller = fettle.Controller(**{key: parameters[key] for key in ADDRESS})
    if parameters["state"] == "drained":
        return controller.node_drain(parameters["nodes"], parameters["reason"], dry_run=dry_run)
    return controller.node_undrain(parameters["nodes"], dry_run=dry_run)


def main():
    module = AnsibleModule(
        argument_spec={"nodes": {"type": "str", "required": True}, "reason": {"type": "str"},
                       "state": {"type": "str", "choices": ["drained", "resumed"], "required": True}, **ADDRESS},
        required_if=[("state", "drained", ["reason"])], supports_check_mode=True)
    if fettle is None:
        module.fail_json(msg=missing_required_lib("fettle (Debian's python3-fettle)"))
    try:
        answer = change(module.params, module.check_mode)
    except fettle.Error as e:
        module.fail_json(msg=str(e), code=e.code)
    module.exit_json(changed=answer["changed"] != "", nodes=answer["changed"], held=answer["held"])


if __name__ == "__main__":
    main()
