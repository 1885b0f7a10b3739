// SPDX-License-Identifier: Apache-2.0
// An OpenID provider for tests: npm's oidc-provider over HTTPS on the loopback, with signing keys of its own making. A
// login and the consent to it are given at once to the account that the request hints at, so that the whole flow of a
// person runs without a browser.
//
// usage: node provider.mjs PACKAGES PORT CERTIFICATE KEY AUDIENCE
// It prints "ready" when it hears. SIGUSR2 makes new signing keys, for ES256 from then on.
import { createRequire } from 'node:module';
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:https';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [packages, port, certificate, key, audience] = process.argv.slice(2);
const resolve = createRequire(`${packages}/package.json`).resolve;
const { default: Provider } = await import(pathToFileURL(resolve('oidc-provider')).href);
const issuer = `https://localhost:${port}`;
let generation = 0;

function signingKeys() {
  generation += 1;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  return { keys: [{ ...rsa, kid: `rsa-${generation}`, use: 'sig', alg: 'RS256' }, { ...ec, kid: `ec-${generation}`, use: 'sig', alg: 'ES256' }] };
}

const groups = { ann: ['hpc-ops'], bob: [] };
const tenants = { paula: 'physics', carl: ['physics', 'bio'] };

function makeProvider(algorithm) {
  const provider = new Provider(issuer, {
    clients: [
      { client_id: 'portal', token_endpoint_auth_method: 'none', redirect_uris: [`${issuer}/done`], grant_types: ['authorization_code'], response_types: ['code'] },
      { client_id: 'robot', client_secret: 'secret-of-the-robot', redirect_uris: [], grant_types: ['client_credentials'], response_types: [] },
    ],
    jwks: signingKeys(),
    clientBasedCORS: () => false,
    cookies: { keys: ['not-a-secret'] },
    claims: { openid: ['sub', 'auth_time'], profile: ['preferred_username', 'groups'] },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, preferred_username: `${id} of ${audience}`, groups: groups[id] ?? [] }) }),
    // What a provider of a site is configured to put into access tokens (RFC 9068, 2.2).
    extraTokenClaims: (ctx, token) => (token.accountId
      ? { auth_time: ctx.oidc.entities.Session?.authTime() ?? Math.floor(Date.now() / 1000), groups: groups[token.accountId] ?? [], tenants: tenants[token.accountId], preferred_username: `Dr. ${token.accountId}` }
      : undefined),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        getResourceServerInfo: (ctx, resource) => ({ scope: 'profile', audience: resource.slice('urn:test:'.length), accessTokenTTL: 300, accessTokenFormat: 'jwt', jwt: { sign: { alg: algorithm } } }),
        useGrantedResource: () => true,
      },
    },
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
  });
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/interaction/')) return next();
    const { prompt, params, session } = await provider.interactionDetails(ctx.req, ctx.res);
    if (prompt.name === 'login') {
      return provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: params.login_hint } }, { mergeWithLastSubmission: false });
    }
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope('openid profile');
    grant.addResourceScope(params.resource, 'profile');
    return provider.interactionFinished(ctx.req, ctx.res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
  });
  return provider.callback();
}

let callback = makeProvider('RS256');
const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (req, res) => callback(req, res));
server.listen(Number(port), '127.0.0.1', () => console.log('ready'));
process.on('SIGUSR2', () => {
  callback = makeProvider('ES256');
  console.log('rotated');
});
process.on('SIGTERM', () => process.exit(0));
