// The official TypeScript SDK, version 1: the initialize era.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { converse } from './conversation.mjs';

await converse(async (url, headers) => {
  const client = new Client({ name: 'clients', version: '1' });
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  await client.connect(transport);
  return [client, transport.protocolVersion];
});
