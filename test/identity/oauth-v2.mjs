// The OAuth client of the official TypeScript SDK, version 2, in either era of the protocol.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { authorize } from './oauth.mjs';

const mode = process.env.MCP_VERSION === '2026-07-28' ? { pin: process.env.MCP_VERSION } : 'legacy';

await authorize({
  UnauthorizedError,
  newClient: () => new Client({ name: 'identity', version: '1' }, { versionNegotiation: { mode } }),
  newTransport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
  finish: (transport, parameters) => transport.finishAuth(parameters),
});
