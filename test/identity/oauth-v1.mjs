// The OAuth client of the official TypeScript SDK, version 1.
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { authorize } from './oauth.mjs';

await authorize({
  UnauthorizedError,
  newClient: () => new Client({ name: 'identity', version: '1' }),
  newTransport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
  finish: (transport, parameters) => transport.finishAuth(parameters.get('code')),
});
