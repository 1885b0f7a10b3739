// SPDX-License-Identifier: Apache-2.0
// What a program does with a client made of doc/openapi.yaml. types.ts is generated; nothing here compiles
// when the types say otherwise, nor when a line does that is marked as one that must not.
import createClient from "openapi-fetch";
import type { components, paths } from "./types.js";

type Changed = components["schemas"]["Changed"];

export async function use(fetch: (request: Request) => Promise<Response>) {
  const controller = createClient<paths>({ baseUrl: "http://localhost", fetch });

  const table = await controller.GET("/v1/nodes", { params: { query: { fields: "Name,State" } } });
  const names: (string | null | undefined)[] = table.data!.nodes.map((node) => node.Name);

  const drained = await controller.POST("/v1/nodes/drain", { body: { nodes: "n01", reason: "bad DIMM" } });
  const changed: Changed = drained.data!;
  const shown = await controller.GET("/v1/nodes/{name}", { params: { path: { name: "n01" } } });
  const reasons: string[] = shown.data!.claims.map((claim) => claim.reason);
  const released = await controller.POST("/v1/nodes/undrain", { body: { nodes: "n01" } });

  const refused = await controller.GET("/v1/nodes/{name}", { params: { path: { name: "n09" } } });
  const status = await controller.GET("/v1/status");
  return {
    names, changed: changed.changed, claim: changed.claim, state: shown.data!.node.State, reasons,
    released: released.data!.changed, refused: refused.error!.error.code, schedulable: status.data!.schedulable,
  };
}

export function mistakes(controller: ReturnType<typeof createClient<paths>>) {
  // @ts-expect-error: there is no such call
  controller.GET("/v1/node");
  // @ts-expect-error: a reason is needed
  controller.POST("/v1/nodes/drain", { body: { nodes: "n01" } });
  // @ts-expect-error: a claim is a text
  controller.POST("/v1/nodes/undrain", { body: { nodes: "n01", claim: 1 } });
}
