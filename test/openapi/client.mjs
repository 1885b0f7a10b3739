// SPDX-License-Identifier: Apache-2.0
// Runs the client of client.ts, and prints what it got.   usage: node client.mjs SOCKET
import http from "node:http";
import { use } from "./client.js";

// fetch, over a local socket.
function overSocket(socketPath) {
  return async (asked) => {
    const body = await asked.text();
    const headers = Object.fromEntries(asked.headers);
    const { pathname, search } = new URL(asked.url);
    return new Promise((resolve, reject) => {
      const request = http.request(
        { socketPath, method: asked.method, path: pathname + search, headers, agent: false },
        (answer) => {
          const parts = [];
          answer.on("data", (part) => parts.push(part));
          answer.on("error", reject);
          answer.on("end", () =>
            resolve(new Response(Buffer.concat(parts), { status: answer.statusCode, headers: answer.headers })));
        });
      request.on("error", reject);
      request.end(body);
    });
  };
}

console.log(JSON.stringify(await use(overSocket(process.argv[2]))));
