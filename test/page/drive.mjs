// Drives Chromium through one page. The argument is a file with what to do; what came of it goes to standard output, as JSON.
import { readFile } from 'node:fs/promises';
import axe from 'axe-core';
import puppeteer from 'puppeteer-core';

const work = JSON.parse(await readFile(process.argv[2], 'utf8'));
const told = { passed: 0, failures: [], screens: 0, violations: [], cells: 0, first: null };

function check(holds, what) {
  if (holds) {
    told.passed++;
  } else {
    told.failures.push(`${work.name}: ${what}`);
  }
}

const begun = Date.now();
const phase = (name) => console.error(`${work.name}: ${name} after ${Math.round((Date.now() - begun) / 1000)} s`);
const browser = await puppeteer.launch({
  executablePath: work.chromium,
  protocolTimeout: 10 * 60_000,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--host-resolver-rules=MAP evil.test 127.0.0.1'],
});
const page = await browser.newPage();
// The test as a whole has a limit; a step only has to come.
const patience = 10 * 60_000;
page.setDefaultTimeout(patience);
const noise = [];
page.on('console', (message) => {
  if (message.type() === 'error' && !/status of 40[349]|status of 502/.test(message.text())) noise.push(message.text());
});
page.on('pageerror', (error) => noise.push(error.message));
page.on('dialog', (dialog) => { noise.push(`a text ran as a script: ${dialog.message()}`); dialog.dismiss(); });
const foreign = [];
page.on('request', (request) => {
  if (!request.url().startsWith(origin + '/') && !request.url().startsWith('data:')) foreign.push(request.url());
});

const origin = new URL(work.link).origin;
await page.goto(work.link);
await page.waitForFunction("!location.pathname.includes('/open/')");
const root = await page.$eval('.brand', (brand) => brand.getAttribute('href'));
const at = (path) => origin + root + path;

const modes = {
  light: { width: 1100, scheme: 'light' },
  dark: { width: 1100, scheme: 'dark' },
  narrow: { width: 360, scheme: 'light' },
};

async function inMode(name) {
  const { width, scheme } = modes[name];
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.setViewport({ width, height: 760 });
}

// Each screen, in each mode: what it says, that it fits, and axe's rules.
for (const screen of work.screens ?? []) {
  told.screens++;
  if (screen.first) {
    await page.goto(at(screen.first));
    const first = await page.$$eval('table.calls tbody tr', (rows, text) => rows.find((row) => row.textContent.includes(text))?.querySelector('th a').getAttribute('href'), screen.row ?? '');
    check(first, `${screen.first} has no call with ${screen.row}`);
    if (!first) continue;
    screen.path = first.slice(root.length) + screen.path;
  }
  for (const mode of Object.keys(modes)) {
    const name = `${screen.path || '(first)'} in ${mode}`;
    await inMode(mode);
    const answer = await page.goto(at(screen.path));
    check(answer.status() === (screen.status ?? 200), `${name}: status ${answer.status()}`);
    if (mode === 'light') {
      const text = await page.$eval('main', (main) => main.innerText);
      for (const want of screen.wants ?? []) check(text.includes(want), `${name} lacks ${want}: ${text.slice(0, 2000)}`);
      for (const not of screen.lacks ?? []) check(!text.includes(not), `${name} has ${not}`);
      if (!told.first) {
        const bytes = await page.evaluate(async (urls) => {
          let sum = 0;
          for (const url of urls) sum += (await (await fetch(url)).arrayBuffer()).byteLength;
          return sum;
        }, ['', ...['style.css', 'page.js', 'icon.svg'].map((name) => `../static/${name}`)].map(at));
        check(bytes <= 100 << 10, `the first screen has ${bytes} bytes`);
        await page.goto(at(''));
        told.first = { bytes, ms: await page.evaluate(() => Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd)) };
        await page.goto(at(screen.path));
      }
    }
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(wider <= 0, `${name} is wider than the window by ${wider} pixels`);
    const over = await page.$$eval('svg.chain .link', (boxes) => boxes.flatMap((box) => {
      const edge = box.querySelector('rect').getBBox();
      return [...box.querySelectorAll('text')].filter((text) => text.getBBox().x + text.getBBox().width > edge.x + edge.width).map((text) => text.textContent);
    }));
    check(over.length === 0, `${name}: texts run over their box: ${over.join(', ')}`);
    if (mode === 'narrow') continue; // it has the colours of light, and the same elements
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
    for (const v of violations) told.violations.push(`${work.name}: ${name}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')}`);
  }
}

phase('screens');

// The keyboard: the first stop skips to the content, each stop is seen, and the way does not end in a trap.
if (work.keyboard !== undefined) {
  await inMode('light');
  await page.goto(at(work.keyboard));
  await page.keyboard.press('Tab');
  check(await page.evaluate(() => document.activeElement.className === 'skip' && document.activeElement.getBoundingClientRect().left >= 0), 'the first stop of the keyboard is not the way to the content');
  await page.keyboard.press('Enter');
  check(await page.evaluate(() => document.activeElement.id === 'main'), 'the way to the content does not lead there');
  const stops = await page.evaluate(() => document.querySelectorAll('main a, main button, main input:not([type=hidden]), main textarea, main select, main summary, main [tabindex="0"]').length);
  let unseen = 0;
  const reached = new Set();
  for (let i = 0; i < stops + 5; i++) {
    await page.keyboard.press('Tab');
    const stop = await page.evaluate(() => {
      const e = document.activeElement;
      if (!e.closest('main')) return null;
      window.stops ??= [];
      if (!window.stops.includes(e)) window.stops.push(e);
      const style = getComputedStyle(e);
      const rect = e.querySelector('rect');
      return { id: window.stops.indexOf(e), seen: style.outlineStyle !== 'none' || (rect && getComputedStyle(rect).strokeWidth === '2.5px') };
    });
    if (!stop) break;
    reached.add(stop.id);
    if (!stop.seen) unseen++;
  }
  check(unseen === 0, `${unseen} stops of the keyboard are not seen`);
  check(reached.size === stops, `the keyboard reaches ${reached.size} of ${stops} stops`);
}

// Without scripts everything is there.
if (work.plain !== undefined) {
  await page.setJavaScriptEnabled(false);
  await page.goto(at(work.plain.path));
  const text = await page.$eval('main', (main) => main.textContent);
  for (const want of work.plain.wants) check(text.includes(want), `without scripts ${work.plain.path} lacks ${want}`);
  await page.setJavaScriptEnabled(true);
}

phase('keyboard');

// The matrix: each cell of each page of the table says what the JSON says, and that is what the command prints.
for (const m of work.matrices ?? []) {
  await inMode('light');
  await page.goto(at(m.path));
  const json = await page.evaluate(async (url) => (await fetch(url)).text(), at(m.json));
  const printed = await readFile(m.printed, 'utf8');
  const matrix = JSON.parse(json);
  if (m.columnsDiffer) {
    check(JSON.stringify(matrix.callers) === JSON.stringify(JSON.parse(printed).callers), `the callers of ${m.json} are not what the command prints`);
  } else {
    check(json === printed, `${m.json} is not what the command prints`);
  }
  const want = new Map();
  for (const caller of matrix.callers) {
    for (const a of caller.access) {
      let text = a.verbs.map((v) => (v.granted ? v.name[0] : '-')).join('');
      if (text[0] === 'v' && !a.rows.all) text += ' ' + (a.rows.policies?.join('+') || 'none');
      for (const action of a.actions ?? []) if (action.granted && action.name !== 'delete_selected') text += ' +' + action.name;
      want.set(`${caller.tokens[0]} ${a.model}`, text);
    }
  }
  const parts = ['', ...Array.from({ length: Math.ceil(matrix.models.length / 12) - 1 }, (_, i) => `?models=${i + 2}`)];
  const seen = new Set();
  for (const part of parts) {
    for (let next = at(m.path) + part; next;) {
      await page.goto(next);
      const { cells, after } = await page.evaluate(() => ({
        cells: [...document.querySelectorAll('table.matrix tbody tr')].flatMap((row) => [...row.querySelectorAll('a.cell')].map((a) => {
          const [, namespace, token, model] = a.pathname.match(/\/who\/([^/]+)\/([^/]+)\/([^/]+)$/);
          const drawn = [...a.querySelectorAll('.verbs > *')].map((e) => e.textContent.replace('·', '-')).join('') + (a.querySelector('.rows') ? ' ' + a.querySelector('.rows').textContent : '') + (a.querySelector('.actions') ? ' ' + a.querySelector('.actions').textContent : '');
          return { key: `${namespace}/${token} ${model}`, text: a.dataset.cell, drawn };
        })),
        after: [...document.querySelectorAll('.pages[aria-label="Pages of tokens"] a[rel=next]')].map((a) => a.href)[0],
      }));
      for (const { key, text, drawn } of cells) {
        if (want.get(key) === text && drawn === text) {
          told.cells++;
        } else {
          told.failures.push(`${work.name}: the cell ${key} is ${text}, drawn ${drawn}, and the command says ${want.get(key)}`);
        }
        seen.add(key);
      }
      next = after;
    }
  }
  check(seen.size === want.size, `${m.path} has ${seen.size} of ${want.size} cells`);
}

phase('matrix');

// The questions: each from the first screen, step by step.
for (const q of work.questions ?? []) {
  await inMode('light');
  await page.goto(at(''));
  let clicks = 0;
  let keys = 0;
  try {
    for (const step of q.steps ?? []) {
      const [, how, what] = step.match(/^(\w+) (.*)$/);
      if (how === 'type') {
        await page.keyboard.type(what);
        continue;
      }
      if (how === 'press') {
        keys++;
        if (what === 'Enter') await Promise.all([page.waitForNavigation(), page.keyboard.press(what)]);
        else await page.keyboard.press(what);
        continue;
      }
      clicks++;
      const link = await page.evaluateHandle((how, what) => {
        if (how === 'open') return [...document.querySelectorAll('main tbody tr')].find((row) => row.innerText.includes(what))?.querySelector('a');
        return [...document.querySelectorAll('a, button')].find((e) => e.innerText.replace(/\s+/g, ' ').trim() === what || e.dataset.cell === what);
      }, how, what);
      if (!link.asElement()) throw new Error(`nothing to ${step}: ${await page.$eval('main', (main) => main.innerText.slice(0, 600))}`);
      await Promise.all([page.waitForNavigation(), link.asElement().click()]);
    }
    await page.waitForFunction((wants) => wants.every((want) => document.querySelector('main').innerText.includes(want)), {}, q.wants);
    check(true, '');
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
    for (const v of violations) told.violations.push(`${work.name}: ${q.asks}: ${v.id}: ${v.help}`);
    console.error(`${work.name}: ${q.asks} ${clicks} clicks, ${keys} keys`);
  } catch (error) {
    check(false, `${q.asks} ${error.message}: ${await page.$eval('main', (main) => main.innerText.slice(0, 1000))}`);
  }
}

// An act: what it would do, then the button, then what happened, which comes without a reload.
if (work.act) {
  await page.goto(at(work.act.path));
  const text = await page.$eval('main', (main) => main.innerText);
  check(text.includes(work.act.says), `${work.act.path} does not say what it would do`);
  await Promise.all([page.waitForNavigation(), page.click('form[method=post] button')]);
  check((await page.$eval('h1', (h) => h.textContent)).includes('what happened'), 'the act does not end in what happened');
  await page.waitForFunction((done) => document.querySelector('[data-live]').textContent.includes(done), {}, work.act.done);
  check(true, '');
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  for (const v of violations) told.violations.push(`${work.name}: what happened: ${v.id}`);
  told.screens++;
}

// Calls that are followed: one that another window makes appears without a reload, and the place of the keyboard stays.
if (work.follow) {
  await page.goto(at(work.follow.path));
  const rows = () => page.$$eval('[data-live] table.calls tbody tr', (all) => all.length);
  const had = await rows();
  await page.focus('#token');
  const window = await browser.newPage();
  window.setDefaultTimeout(patience);
  const answer = await window.goto(at(work.follow.calls));
  check(answer.status() === 200 && (await window.$eval('main', (main) => main.innerText)).includes(work.follow.wants), `${work.follow.calls} lacks ${work.follow.wants}`);
  await window.close();
  await page.waitForFunction((least) => document.querySelectorAll('[data-live] table.calls tbody tr').length >= least, {}, Math.min(had + 1, 50));
  check(await rows() > had, `${work.follow.path} shows no new call`);
  check(await page.evaluate(() => document.activeElement.id === 'token'), 'a new call takes the place of the keyboard away');
}

const before = noise.length;
check(before === 0, `the browser complains: ${noise.join('; ')}`);
check(foreign.length === 0, `the page asks others: ${foreign.join(' ')}`);

// Attacks, from a site at another port and from a name that leads here.
if (work.attack) {
  const url = at(work.attack.path);
  await page.goto(work.attack.site);
  await page.setContent(`<form method="post" action="${url}"><input name="token" value="${work.attack.token}"></form><iframe src="${at('')}"></iframe>`);
  const framed = page.frames().find((f) => f.parentFrame());
  const inside = await framed.evaluate(() => document.querySelector('.brand')?.textContent ?? '').catch(() => '');
  check(inside === '', 'another site may frame the page');
  const [answer] = await Promise.all([page.waitForNavigation(), page.$eval('form', (form) => form.submit())]);
  check(answer.status() === 403, `another site may send a form: ${answer.status()}`);
  const renamed = await page.goto(at('').replace('127.0.0.1', 'evil.test'));
  check(renamed.status() === 421, `a name that leads here is answered with ${renamed.status()}`);
  const context = await browser.createBrowserContext();
  const other = await context.newPage();
  other.setDefaultTimeout(patience);
  const again = await other.goto(at(''));
  check(again.status() === 403, `another browser is answered with ${again.status()}`);
  const used = await other.goto(work.link);
  check(used.status() === 403, `the link works twice: ${used.status()}`);
}

for (const shot of work.shots ?? []) {
  await inMode(shot.mode);
  await page.setViewport({ width: modes[shot.mode].width === 360 ? 360 : 960, height: shot.height });
  await page.goto(at(shot.path));
  await page.screenshot({ path: shot.file });
}

await browser.close();
console.log(JSON.stringify(told));
