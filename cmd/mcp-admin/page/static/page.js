// The page works without this. It adds: a button that copies a command, a key that leads to the first field, and reloads what changes.
'use strict';

for (const code of document.querySelectorAll('.command code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', 'Copy: ' + code.textContent.slice(0, 60));
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
  code.after(button);
}

// The key / leads to the first field, as on other pages with a search.
const field = document.querySelector('main form :is(input:not([type=hidden]), textarea)');
if (field) {
  const hint = document.createElement('kbd');
  hint.textContent = '/';
  hint.setAttribute('aria-hidden', 'true');
  field.setAttribute('aria-keyshortcuts', '/');
  if (field.matches('textarea')) field.before(hint);
  else field.after(hint);
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !event.target.closest('input, textarea, select')) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  });
}

// What the main part shows is asked for again until it is final. Only its live part is replaced, so that the place of the keyboard stays.
const main = document.querySelector('main[data-refresh]');
const again = async () => {
  const response = await fetch(location.href);
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  const live = next.querySelector('[data-live]');
  if (live) {
    document.querySelector('[data-live]').replaceChildren(...live.childNodes);
  }
  if (next.querySelector('main[data-refresh]')) {
    setTimeout(again, Number(main.dataset.refresh));
  }
};
if (main) {
  setTimeout(again, Number(main.dataset.refresh));
}
