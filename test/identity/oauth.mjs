// What a public client does that knows nothing but the endpoint's URL: a 401 leads it to the authorization server, at which
// it registers; a person logs in, and it lists the tools. Each step prints one line of JSON, {step, value} or {step, error};
// the first error ends it.
import { logIn } from './login.mjs';

const redirectURL = 'http://127.0.0.1:1/callback'; // nobody listens there: the person's browser is ours

// Memory is what a client keeps of its authorization: an OAuthClientProvider of either SDK.
class Memory {
  redirectUrl = redirectURL;
  clientMetadata = {
    client_name: 'identity', redirect_uris: [redirectURL], grant_types: ['authorization_code'], response_types: ['code'],
    token_endpoint_auth_method: 'none', application_type: 'native',
  };
  clientInformation() { return this.client; }
  saveClientInformation(client) { this.client = client; }
  tokens() { return this.saved; }
  saveTokens(tokens) { this.saved = tokens; }
  redirectToAuthorization(url) { this.authorizationURL = url; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  saveDiscoveryState(state) { this.discovered = state; }
  discoveryState() { return this.discovered; }
}

// authorize takes what is the SDK's own: newClient, newTransport(url, provider), finish(transport, parameters), which
// exchanges what the login came back with for tokens, and the error that says that there are none.
export async function authorize({ newClient, newTransport, finish, UnauthorizedError }) {
  const say = line => console.log(JSON.stringify(line));
  const url = new URL(process.env.MCP_URL), memory = new Memory();
  let step = '401';
  try {
    const first = newTransport(url, memory);
    try {
      await newClient().connect(first);
      throw new Error('it was let in without a token');
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) {
        throw error;
      }
      say({ step, value: error.message });
    }
    step = 'registration';
    say({ step, value: memory.client.client_id });
    step = 'login';
    const asked = memory.authorizationURL.searchParams;
    const back = await logIn(memory.authorizationURL, redirectURL, process.env.MCP_PERSON);
    if (!back.searchParams.get('code')) {
      throw new Error(`no code: ${back.searchParams}`);
    }
    say({ step, value: `${asked.get('code_challenge_method')} ${asked.get('resource')}` });
    step = 'token';
    await finish(first, back.searchParams);
    say({ step, value: memory.saved.token_type });
    step = 'tools/list';
    const client = newClient();
    await client.connect(newTransport(url, memory));
    const { tools } = await client.listTools();
    say({ step, value: tools.map(tool => tool.name) });
    await client.close();
  } catch (error) {
    say({ step, error: `${error.name}: ${error.message}` });
  }
}
