import { describe, expect, it } from 'vitest'
import { markdown } from './markdown.ts'

const made = (text: string): string =>
  markdown(text, (target) => (target === 'a.md' ? '/a' : undefined)).text.replaceAll(/\s*\n\s*/g, ' ')

describe('Markdown of the guides', () => {
  it.each([
    ['a heading', '## Two `a` & b', '<h2 id="two-a--b">Two <code>a</code> &amp; b</h2>'],
    ['paragraphs', 'one\ntwo\n\nthree', '<p>one two</p><p>three</p>'],
    ['code, as it is', '```sh\na <b> `c`\n```\nd', '<pre>a &lt;b&gt; `c`</pre><p>d</p>'],
    [
      'the name of a file above its content',
      '```js server.mjs\nrun()\n```',
      '<p class="note"><code>server.mjs</code></p><pre>run()</pre>',
    ],
    ['a list', '- one\n  more\n- two\n\nend', '<ul><li>one more</li><li>two</li></ul><p>end</p>'],
    ['a numbered list', '1. one\n2. two', '<ol><li>one</li><li>two</li></ol>'],
    ['links', '[`a` b](a.md) and [c](b.md)', '<p><a href="/a"><code>a</code> b</a> and c</p>'],
    ['stress', '**a** and _b_, not c_d_e', '<p><b>a</b> and <em>b</em>, not c_d_e</p>'],
    ['no comment', '<!-- test: a call -->\none\n<!-- two\nlines -->\n\ntwo', '<p>one</p><p>two</p>'],
    ['a comment within code', '```html\n<!-- a -->\n```', '<pre>&lt;!-- a --&gt;</pre>'],
    ['what looks like HTML', '<script>', '<p>&lt;script&gt;</p>'],
  ])('shows %s', (_name, text, expected) => {
    expect(made(text)).toBe(expected)
  })

  it('shows a table', () => {
    const cells = [...made('| a | b |\n| - | - |\n| [x](a.md) | `y` |').matchAll(/<t[hd]>(.*?)<\/t[hd]>/g)]
    expect(cells.map(([, cell]) => cell)).toEqual(['a', 'b', '<a href="/a">x</a>', '<code>y</code>'])
  })
})
