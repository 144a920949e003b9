// The one script of /docs. It finds pages by words, in a list that it fetches from this server when it is first needed,
// and writes the address of this server into the examples. It is plain JavaScript as text, because the browser gets it
// as it is. Without scripts, only the menu works.
export type SearchEntry = readonly [
  title: string,
  text: string,
  url: string,
  /** Other words by which it is found, in lower case. */
  words?: string,
]

/** The mark of input that is accepted or refused without effect; it is found after the others. */
export const unservedMark = ', not served yet'

// An origin may hold text that a shell would run: DNS allows more characters than host names.
export const searchScript = `
'use strict';
if (/^https?:\\/\\/[\\w.:[\\]-]+$/.test(location.origin))
  for (const example of document.querySelectorAll('main pre'))
    if (example.textContent.includes('http://127.0.0.1:3000/v1') && example.children.length === 0)
      example.textContent = example.textContent.replaceAll('http://127.0.0.1:3000/v1', location.origin + '/v1');
(() => {
  const place = document.getElementById('search');
  const input = document.createElement('input');
  const list = document.createElement('ul');
  input.type = 'search';
  input.placeholder = 'Search ( / )';
  input.setAttribute('aria-label', 'Search');
  place.append(input, list);
  let entries;
  const load = () => (entries ??= fetch('/docs/search.json').then((response) => response.json()));
  const scoreOf = ([title, text, , others = ''], words) => {
    const name = title.toLowerCase();
    const shown = name + ' ' + text.toLowerCase();
    const known = words.filter((word) => shown.includes(word) || others.includes(word));
    const share = text.includes('${unservedMark}') ? 0.01 : 1;
    return {
      words: known.length,
      score: share * known.reduce((sum, word) => sum + (name === word ? 8 : name.startsWith(word) ? 4 : name.includes(word) ? 2 : shown.includes(word) ? 1 : 0.5), 0),
    };
  };
  // Those that have all words; where none has, those that have most of them.
  const find = async (words) => {
    const scored = (await load()).map((entry) => ({ entry, ...scoreOf(entry, words) }));
    const most = Math.max(...scored.map((one) => one.words));
    return most === 0 ? [] : scored.filter((one) => one.words === most).sort((a, b) => b.score - a.score).slice(0, 12);
  };
  const show = async () => {
    const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const found = words.length === 0 ? [] : await find(words);
    list.replaceChildren(...found.map(({ entry: [title, text, url] }) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      const note = document.createElement('small');
      link.href = url;
      link.textContent = title;
      note.textContent = text;
      item.append(link, note);
      return item;
    }));
    if (words.length > 0 && found.length === 0) {
      const item = document.createElement('li');
      item.textContent = 'Nothing has these words. All pages are in the menu.';
      list.append(item);
    }
  };
  input.addEventListener('input', () => void show());
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') list.querySelector('a')?.click();
    if (event.key === 'Escape') { input.value = ''; void show(); }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || document.activeElement === input) return;
    event.preventDefault();
    input.focus();
  });
})();
`
