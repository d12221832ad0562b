// What the page does: an MCP client asks the endpoint that /settings names, and /result is told what came of it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

async function talk({ url, token }) {
  const client = new Client({ name: 'page', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const called = await client.callTool({ name: 'list_book', arguments: { search: 'Solaris' } });
  await client.close();
  return { tools: tools.map((tool) => tool.name), text: called.content[0].text };
}

// A refused token must reach the page as what it is, and not as a failure of the network.
async function refusedToken({ url }) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: 'Bearer none', 'Content-Type': 'application/json' },
    body: '{"method":"tools/list"}',
  });
  return { status: response.status, challenge: response.headers.get('WWW-Authenticate'), body: await response.json() };
}

async function outcome(of) {
  try {
    return { value: await of() };
  } catch (error) {
    return { error: `${error.name}: ${error.message}` };
  }
}

const settings = await (await fetch('/settings')).json();
const result = { conversation: await outcome(() => talk(settings)), refusedToken: await outcome(() => refusedToken(settings)) };
await fetch('/result', { method: 'POST', body: JSON.stringify(result) });
