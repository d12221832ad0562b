// What a client on npm is asked to do, whichever it is. Each step prints one line of JSON, {step, value} or {step, error};
// the first error ends the conversation. The Go programs do the same; package main judges them.

const steps = {
  'tools/list': client => client.listTools(),
  'tools/call': client => client.callTool({ name: 'list_book', arguments: { search: 'Solaris' } }),
  'tools/call, writing': client => client.callTool({ name: 'update_book', arguments: { id: 4, data: { in_stock: 6 } } }),
  'resources/list': client => client.listResources(),
  'resources/templates/list': client => client.listResourceTemplates(),
  'resources/read': client => client.readResource({ uri: 'data://book/4' }),
  'prompts/list': client => client.listPrompts(),
  'prompts/get': client => client.getPrompt({ name: 'understand_model', arguments: { model_name: 'book' } }),
  close: client => client.close(),
};

// converse connects and takes the steps. connect takes the endpoint's URL, the headers of every request and the protocol
// version, and resolves to the client and the version that was agreed on.
export async function converse(connect) {
  const { MCP_URL, MCP_TOKEN, MCP_VERSION } = process.env;
  const say = line => console.log(JSON.stringify(line));
  let step = 'connect';
  try {
    const [client, version] = await connect(new URL(MCP_URL), { Authorization: `Bearer ${MCP_TOKEN}` }, MCP_VERSION);
    say({ step, value: version });
    for (const [name, take] of Object.entries(steps)) {
      step = name;
      say({ step, value: await take(client) });
    }
  } catch (error) {
    say({ step, error: `${error.name}: ${error.message}` });
  }
}
