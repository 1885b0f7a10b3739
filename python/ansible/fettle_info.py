#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Ansible: what Fettle knows of nodes."""

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

try:
    import fettle
except ImportError:
    fettle = None

DOCUMENTATION = r"""
module: fettle_info
short_description: What a Fettle controller knows of nodes, and how it stands with the controller
description:
  - Asks a Fettle controller for its node table and its status. Changes nothing.
requirements: [python3-fettle]
author: [Fettle maintainers]
options:
  nodes:
    description: Host list of the nodes, C(lx[01-64]); all without it.
    type: str
  fields:
    description: Names of fields, as fettle(1) lists them; all without it.
    type: list
    elements: str
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
- name: Which nodes may take work?
  fettle_info:
    nodes: lx[01-64]
    fields: [Name, State, Schedulable, Why]
  register: cluster

- name: Stop where one may not
  ansible.builtin.assert:
    that: item.Schedulable
    fail_msg: "{{ item.Name }}: {{ item.Why }}"
  loop: "{{ cluster.nodes }}"
"""

RETURN = r"""
nodes:
  description: The nodes, each a dictionary of its fields.
  returned: success
  type: list
  elements: dict
status:
  description: The answer to C(/v1/status), as C(openapi.yaml) describes it.
  returned: success
  type: dict
"""

ADDRESS = {"controller": {"type": "str"}, "cert": {"type": "path"}, "key": {"type": "path", "no_log": False},
           "ca": {"type": "path"}}


def ask(parameters):
    controller = fettle.Controller(**{key: parameters[key] for key in ADDRESS})
    table = controller.node_list(parameters["nodes"], ",".join(parameters["fields"] or []) or None)
    return {"nodes": table["nodes"], "status": controller.status_show()}


def main():
    module = AnsibleModule(argument_spec={"nodes": {"type": "str"}, "fields": {"type": "list", "elements": "str"},
                                          **ADDRESS}, supports_check_mode=True)
    if fettle is None:
        module.fail_json(msg=missing_required_lib("fettle (Debian's python3-fettle)"))
    try:
        answer = ask(module.params)
    except fettle.Error as e:
        module.fail_json(msg=str(e), code=e.code)
    module.exit_json(changed=False, **answer)


if __name__ == "__main__":
    main()
