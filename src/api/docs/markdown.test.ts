import { describe, expect, it } from 'vitest'
import { markdown } from './markdown.ts'

const made = (text: string): string =>
  markdown(text, (target) => (target === 'a.md' ? '/a' : undefined))
    .text.replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('> <', '><')
    .trim()

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
    ['stress', '**a** and _b_, not c_d_e', '<p><strong>a</strong> and <em>b</em>, not c_d_e</p>'],
    ['no comment', '<!-- test: a call -->\none\n<!-- two\nlines -->\n\ntwo', '<p>one</p><p>two</p>'],
    ['a comment within code', '```html\n<!-- a -->\n```', '<pre>&lt;!-- a --&gt;</pre>'],
    ['what looks like HTML', '<script>', '<p>&lt;script&gt;</p>'],
    [
      'HTML within words',
      'a <b onclick="x">c</b> &lt;',
      '<p>a &lt;b onclick=&quot;x&quot;&gt;c&lt;/b&gt; &amp;lt;</p>',
    ],
    [
      'a block of HTML',
      '<div>\n\n**a**\n\n</div>',
      '<p>&lt;div&gt;</p><p><strong>a</strong></p><p>&lt;/div&gt;</p>',
    ],
    [
      'an address, as it is',
      'https://a.example <https://b.example> ~c~',
      '<p>https://a.example &lt;https://b.example&gt; ~c~</p>',
    ],
    ['an image, as its words', '![a <b>](x.png "y")', '<p>a &lt;b&gt;</p>'],
    ['a link to a script, as its words', '[a](javascript:run)', '<p>a</p>'],
    ['the anchor of a heading', '## <a id="verb-say"></a>say', '<h2 id="verb-say">say</h2>'],
    [
      'no other attribute of an anchor',
      '<a id="b" href="x"></a>',
      '<p>&lt;a id=&quot;b&quot; href=&quot;x&quot;&gt;&lt;/a&gt;</p>',
    ],
    [
      'no file of a hostile name',
      '```js <b>\na\n```',
      '<p class="note"><code>&lt;b&gt;</code></p><pre>a</pre>',
    ],
  ])('shows %s', (_name, text, expected) => {
    expect(made(text)).toBe(expected)
  })

  it('shows a table', () => {
    const cells = [...made('| a | b |\n| - | - |\n| [x](a.md) | `y` |').matchAll(/<t[hd]>(.*?)<\/t[hd]>/g)]
    expect(cells.map(([, cell]) => cell)).toEqual(['a', 'b', '<a href="/a">x</a>', '<code>y</code>'])
  })
})
