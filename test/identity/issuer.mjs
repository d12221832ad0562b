// An authorization server of a company: oidc-provider, over TLS, with the settings that the file at the first argument
// has. Access tokens are JWTs for the one resource that was asked for (RFC 8707). It prints a line for each request, so
// that the test can count them.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import Provider, { errors } from 'oidc-provider';

// algorithm is what tokens are signed with; resources are those that tokens can be for; claims are what tokens say of a
// client or a person, by its name.
const { url, port, certificate, key, keys, algorithm, resources, clients, claims } =
  JSON.parse(readFileSync(process.argv[2], 'utf8'));

const provider = new Provider(url, {
  jwks: { keys },
  clients: clients.map(name => ({
    client_id: name, client_secret: 'secret', token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
  })),
  clientDefaults: { id_token_signed_response_alg: algorithm },
  findAccount: (ctx, name) => ({ accountId: name, claims: () => ({ sub: name }) }),
  extraTokenClaims: (ctx, token) => claims[token.accountId ?? token.clientId],
  scopes: ['openid', 'offline_access', 'mcp'],
  features: {
    clientCredentials: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo(ctx, resource) {
        if (!resources.includes(resource)) {
          throw new errors.InvalidTarget();
        }
        return { scope: 'mcp', audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: algorithm } } };
      },
    },
  },
});
provider.use(async (ctx, next) => {
  console.log(`${ctx.method} ${ctx.path}`);
  await next();
});

createServer({ cert: certificate, key }, provider.callback()).listen(port, '127.0.0.1', () => console.log('listening'));
process.on('SIGTERM', () => process.exit(0));
