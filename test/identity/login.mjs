// A person at a browser: opens the authorization server's page, logs in, agrees, and returns the address that the
// authorization server sends the browser back to.
export async function logIn(authorizationURL, redirectURL, person) {
  const cookies = new Map();
  const visit = async (url, form) => {
    const response = await fetch(url, {
      method: form ? 'POST' : 'GET', body: form, redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      value ? cookies.set(name, value) : cookies.delete(name);
    }
    const location = response.headers.get('location');
    return { next: location && new URL(location, url), page: await response.text() };
  };

  let { next, page } = await visit(authorizationURL);
  for (let steps = 0; steps < 20; steps++) {
    if (next?.href.startsWith(redirectURL)) {
      return next;
    }
    const at = next;
    ({ next, page } = next ? await visit(next) : { page });
    if (next) {
      continue;
    }
    const form = /<form[^>]* action="([^"]+)"/.exec(page);
    const prompt = /name="prompt" value="([^"]+)"/.exec(page);
    if (!form || !prompt) {
      throw new Error(`no form to fill in at ${at}: ${page.slice(0, 500)}`);
    }
    const fields = prompt[1] === 'login' ? { prompt: 'login', login: person, password: 'any' } : { prompt: prompt[1] };
    ({ next, page } = await visit(new URL(form[1], at), new URLSearchParams(fields)));
  }
  throw new Error('the login does not end');
}
