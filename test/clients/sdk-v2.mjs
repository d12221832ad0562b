// The official TypeScript SDK, version 2, which refuses answers that are not as the specification says: either era.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { converse } from './conversation.mjs';

await converse(async (url, headers, version) => {
  const mode = version === '2026-07-28' ? { pin: version } : 'legacy';
  const client = new Client({ name: 'clients', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return [client, client.getNegotiatedProtocolVersion()];
});
