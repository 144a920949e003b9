import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { rules } from '../../calls/rules.ts'
import { describeSettings } from '../../config/config.ts'
import { catalogue } from '../../lib/errors.ts'
import { verbTexts } from '../../verbs/index.ts'
import { apiRoutes } from '../index.ts'
import { commonFields } from '../../../scripts/reference/hook-fields.ts'
import { hookDescriptions } from '../../../scripts/reference/hook-payloads.ts'
import { html } from './html.ts'
import { prose } from './markdown.ts'
import type { SearchEntry } from './search-index.ts'
import { heardFrames, sentFrames } from '../../../scripts/reference/socket-frames.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const pageAt = (path: string) => api.http.inject({ method: 'GET', url: path })

const references = apiRoutes.map(({ path, operationId }) => ({ path, operationId }))
const names = (body: string): string[] =>
  [...new Set([...body.matchAll(/href="(\/docs\/resources\/[^"#]+)/g)].map(([, url = '']) => url))].sort()

/** Returns every page that can be reached from the start, with its HTML. */
async function allPages(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const waiting = ['/docs']
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    if (found.has(url) || !url.startsWith('/docs')) continue
    const { statusCode, body } = await pageAt(url)
    expect([url, statusCode]).toEqual([url, 200])
    found.set(url, body)
    waiting.push(...[...body.matchAll(/href="([^"#]+)/g)].map(([, next = '']) => next))
  }
  return found
}

describe('/docs', () => {
  it('begins with a first call in curl, without a token', async () => {
    const { statusCode, headers, body } = await pageAt('/docs')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(body).toContain('curl -X POST http://127.0.0.1:3000/v1/Applications')
    for (const part of ['verbs', 'hooks', 'resources', 'errors'])
      expect(body).toContain(`href="/docs/${part}"`)
  })

  it('has a page for each resource, and every endpoint on one of them', async () => {
    const list = (await pageAt('/docs/resources')).body
    const pages = await Promise.all(names(list).map(async (url) => (await pageAt(url)).body))
    expect(pages.length).toBeGreaterThan(25)
    for (const { path, operationId } of references) {
      const own = pages.filter((body) => body.includes(`<h3 id="${operationId}">`))
      expect([operationId, own.length]).toEqual([operationId, 1])
      expect(own[0]).toContain(`<code>${path}</code>`)
    }
  })

  it('shows what was really sent and returned', async () => {
    const { body } = await pageAt('/docs/resources/Applications')
    expect(body).toMatch(/<summary>Body, for example<\/summary>\s*<pre>\{\n  &quot;/)
    expect(body).toMatch(/<summary>Response 200, for example<\/summary>\s*<pre>\[\n  \{/)
  })

  it('describes every verb and every hook', async () => {
    const verbPage = (await pageAt('/docs/verbs')).body
    for (const { name, example, schema } of verbTexts) {
      expect(verbPage).toContain(`id="verb-${name.replace(':', '-')}"`)
      expect(verbPage).toContain(`<pre>${example.replaceAll('"', '&quot;')}</pre>`)
      for (const option of Object.keys(schema['properties'] ?? {}))
        expect(verbPage).toContain(`<code>${option}</code>`)
    }
    // The table includes the members of nested objects, and the values that are allowed there.
    expect(verbPage).toMatch(
      /<code>target\[\]\.type<\/code><\/td>\s*<td>(?:<span class="label">Type:<\/span> )?<code>&quot;phone&quot;<\/code> or /,
    )
    expect(verbPage).toContain('<a href="#shape-Hook">Hook</a>')
    const hookPage = (await pageAt('/docs/hooks')).body
    for (const { key, fields } of hookDescriptions) {
      expect(hookPage).toContain(`id="hook-${key}"`)
      for (const { name } of [...commonFields, ...fields]) expect(hookPage).toContain(`<code>${name}</code>`)
    }
  })

  it('has every rule of routing, every setting, and the guides with their links', async () => {
    const routing = (await pageAt('/docs/routing')).body
    for (const name of Object.keys(rules)) expect(routing).toContain(`<tr id="${name}">`)
    const settings = (await pageAt('/docs/settings')).body
    for (const { name } of describeSettings()) expect(settings).toContain(`<tr id="${name}">`)
    const list = (await pageAt('/docs/guides')).body
    expect(list).toMatch(/<td><a href="\/docs\/guides\/connect-two">Connect two people<\/a><\/td>/)
    const guide = (await pageAt('/docs/guides/connect-two')).body
    expect(guide).toContain('<h1 id="connect-two-people">Connect two people</h1>')
    expect(guide).toContain('<a href="/docs/verbs#verb-dial">')
    expect(guide).toMatch(/<pre>[^<]*&quot;verb&quot;/)
    for (const name of ['nothing', 'README', '..%2fREADME'])
      expect((await pageAt(`/docs/guides/${name}`)).statusCode).toBe(404)
  })

  it('has the own paths of a resource before those below an account', async () => {
    const page = (await pageAt('/docs/resources/Applications')).body
    const paths = Array.from(page.matchAll(/<\/span> <code>(\/[^<]*)<\/code>/g), ([, path]) => path)
    expect(paths.slice(0, 3)).toEqual(['/Applications', '/Applications', '/Applications/{ApplicationSid}'])
    expect(paths.indexOf('/Accounts/{AccountSid}/Applications')).toBeGreaterThan(3)
  })

  it('has every guide in its menu, in the order in which they are to be read', async () => {
    const files = readdirSync(join(import.meta.dirname, '../../../docs/guides'))
    const index = readFileSync(join(import.meta.dirname, '../../../docs/guides/README.md'), 'utf8')
    const inIndex = Array.from(index.matchAll(/^\| \[[^\]]*\]\(([\w-]+\.md)\)/gm), ([, name]) => name)
    for (const url of ['/docs/guides', '/docs/guides/edge']) {
      const menu = (await pageAt(url)).body.split('</nav>')[0] ?? ''
      const listed = Array.from(menu.matchAll(/href="\/docs\/guides\/([\w-]+)"/g), ([, name]) => `${name}.md`)
      expect(listed).toEqual(inIndex)
      expect(listed.toSorted()).toEqual(files.filter((file) => file !== 'README.md').toSorted())
    }
  })

  it('leads from each guide to pages that are there: other guides, and what it names of the reference', async () => {
    const folder = join(import.meta.dirname, '../../../docs/guides')
    for (const file of readdirSync(folder)) {
      const named =
        readFileSync(join(folder, file), 'utf8').match(/\]\((?:\.\.\/reference\/)?[a-z-]+\.md/g) ?? []
      const { body } = await pageAt(
        file === 'README.md' ? '/docs/guides' : `/docs/guides/${file.slice(0, -3)}`,
      )
      const links = [...body.matchAll(/<a href="(\/docs\/[^"#]+)/g)].map(([, url = '']) => url)
      for (const link of named) {
        const [name = ''] = /[a-z-]+(?=\.md$)/.exec(link) ?? []
        expect(links).toContain(link.includes('reference/') ? `/docs/${name}` : `/docs/guides/${name}`)
      }
      for (const url of new Set(links)) expect([url, (await pageAt(url)).statusCode]).toEqual([url, 200])
    }
  })

  it('has the messages of applications over WebSocket, where the guide and the search lead', async () => {
    const { statusCode, body } = await pageAt('/docs/websocket')
    expect(statusCode).toBe(200)
    for (const { name } of [...sentFrames, ...heardFrames])
      expect(body).toMatch(new RegExp(`<h3 id="[a-z-]+">${name}</h3>`))
    expect(body).toContain('<a href="/docs/guides/websocket">')
    expect(body).not.toContain('npm run docs')
    expect((await pageAt('/docs/guides/websocket')).body).toContain('<a href="/docs/websocket">')
    for (const url of ['/docs', '/docs/verbs'])
      expect((await pageAt(url)).body).toContain('<a href="/docs/websocket">')
    const { body: found } = await pageAt('/docs/search.json')
    const session = (JSON.parse(found) as readonly string[][]).find(([title]) => title === 'session:new')
    expect(body).toContain(` id="${session?.[2]?.split('#')[1]}"`)
  })

  it('answers 404 for a resource that is none', async () => {
    for (const name of ['nothing', 'toString', '__proto__'])
      expect((await pageAt(`/docs/resources/${name}`)).statusCode).toBe(404)
  })

  it('leads a browser from a page that is not there to the start, and tells a program in JSON', async () => {
    for (const url of ['/docs/nothing', '/docs/a/b', '/docs/resources/nothing', '/docs/errors/__proto__']) {
      const shown = await api.http.inject({ method: 'GET', url, headers: { accept: 'text/html' } })
      expect([shown.statusCode, shown.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
      expect(shown.headers['content-security-policy']).toContain("default-src 'none'; style-src 'sha256-")
      expect(shown.body).toContain('Go to the <a href="/docs">start</a>')
      const told = await pageAt(url)
      expect([told.statusCode, JSON.parse(told.body)]).toMatchObject([404, { code: 'no_such_route' }])
    }
  })

  it('shows code as code, on any page', async () => {
    for (const [url, body] of await allPages())
      expect([url, body.replaceAll(/<(pre|style|script)>[^]*?<\/\1>/g, '').match(/.*`.*/)?.[0]]).toEqual([
        url,
        undefined,
      ])
  })

  it('shows no comment of a guide, on any page and in the search', async () => {
    const pages = await allPages()
    expect([...pages.keys()]).toContain('/docs/guides/edge')
    const commented = (text: string): boolean => /<!--|&lt;!--/.test(text)
    for (const [url, body] of pages) expect([url, commented(body)]).toEqual([url, false])
    const { body } = await pageAt('/docs/search.json')
    const texts = (JSON.parse(body) as SearchEntry[]).flat()
    expect(texts.filter((text) => typeof text === 'string' && /<!--|-->/.test(text))).toEqual([])
  })

  it('leads nowhere that is not there, on any page', async () => {
    const pages = await allPages()
    expect(pages.size).toBeGreaterThan(90)
    const ids = new Map(
      [...pages].map(([url, body]) => [
        url,
        new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
      ]),
    )
    for (const [url, body] of pages)
      for (const [, target = '', fragment = ''] of body.matchAll(/href="([^"#]*)#([^"]+)"/g))
        expect([url, target, fragment, ids.get(target === '' ? url : target)?.has(fragment)]).toEqual([
          url,
          target,
          fragment,
          true,
        ])
  })

  it('runs one script and one style of its own on each page, and allows nothing else', async () => {
    for (const url of [
      '/',
      '/docs',
      '/docs/verbs',
      '/docs/hooks',
      '/docs/audio-streams',
      '/docs/resources',
      '/docs/resources/Accounts',
      '/docs/errors',
    ]) {
      const { headers, body } = await api.http.inject({
        method: 'GET',
        url,
        headers: { accept: 'text/html' },
      })
      expect(body).not.toMatch(/<(link|img|iframe|object|form)\b|\bon\w+="|style="|url\(|@import/i)
      expect(body.replaceAll(/<pre>[^<]*<\/pre>/g, '')).not.toMatch(/(href|src)="(https?:)?\/\//)
      const hash = (tag: string): string => {
        const parts = [...body.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))]
        expect(parts).toHaveLength(1)
        return createHash('sha256')
          .update(parts[0]?.[1] ?? '')
          .digest('base64')
      }
      expect(headers['content-security-policy']).toBe(
        `default-src 'none'; style-src 'sha256-${hash('style')}'; script-src 'sha256-${hash('script')}'; connect-src 'self'; ` +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      )
      expect(body).toContain('<meta name="viewport" content="width=device-width, initial-scale=1" />')
    }
  })

  it('is compressed as the browser asks for it', async () => {
    const plain = await pageAt('/docs/resources/Accounts')
    for (const [coding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const answer = await api.http.inject({
        method: 'GET',
        url: '/docs/resources/Accounts',
        headers: { 'accept-encoding': coding },
      })
      expect(answer.headers['content-encoding']).toBe(coding)
      expect(answer.rawPayload.length).toBeLessThan(plain.rawPayload.length / 5)
      expect(decode(answer.rawPayload).toString()).toBe(plain.body)
    }
  })
})

describe('/docs/search.json', () => {
  it('finds every endpoint, verb, hook and error code at an address that is there', async () => {
    const { body, headers } = await pageAt('/docs/search.json')
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    const entries = JSON.parse(body) as SearchEntry[]
    const titles = new Set(entries.map(([title]) => title))
    const wanted = [
      ...apiRoutes.map(({ method, path }) => `${method} ${path}`),
      ...verbTexts.map(({ name }) => name),
      ...Object.keys(catalogue),
      ...Object.keys(rules),
      ...describeSettings().map(({ name }) => name),
    ]
    expect(wanted.filter((title) => !titles.has(title))).toEqual([])
    const pages = await allPages()
    for (const [title, , url] of entries) {
      const [path = '', fragment] = url.split('#')
      const at = pages.get(path)
      expect([
        title,
        url,
        at !== undefined && (fragment === undefined || at.includes(`id="${fragment}"`)),
      ]).toEqual([title, url, true])
    }
  })
})

describe('what /docs/search.json says', () => {
  it('finds what people call transfer, ring group, softphone, settings, a port in use and metrics', async () => {
    const entries = JSON.parse((await pageAt('/docs/search.json')).body) as SearchEntry[]
    const urls = (words: string): string[] =>
      entries.filter(([title]) => title.toLowerCase().includes(words)).map(([, , url]) => url)
    expect(urls('transfer')).toEqual(
      expect.arrayContaining(['/docs/hooks#hook-refer', '/docs/guides/connect-two#transfer-a-call']),
    )
    expect(urls('ring group')).toEqual(['/docs/verbs#verb-dial'])
    expect(urls('softphone')).toContain('/docs/guides/softphone')
    expect(urls('docker')).toEqual(['/docs/guides/production#in-a-container'])
    expect(urls('480')).toEqual(['/docs/errors'])
    expect(urls('settings')).toContain('/docs/settings')
    expect(urls('switchhook_http_port')).toEqual(['/docs/settings#SWITCHHOOK_HTTP_PORT'])
    for (const words of ['port in use', 'eaddrinuse'])
      expect(urls(words)).toEqual(['/docs/guides/production#settings'])
    expect(urls('webhook timeout')).toEqual(['/docs/errors/hook_timeout'])
    expect(urls('call forwarding')).toEqual([
      '/docs/guides/connect-two#transfer-a-call',
      '/docs/routing#redirect',
    ])
    expect(urls('metrics')).toEqual(['/docs/guides/production#what-to-watch'])
  })

  it('finds audio servers: their page, their messages, and what verbs say of them', async () => {
    const entries = JSON.parse((await pageAt('/docs/search.json')).body) as SearchEntry[]
    const urls = (words: string): string[] =>
      entries.filter(([title]) => title.toLowerCase() === words).map(([, , url]) => url)
    expect(urls('audio servers')).toContain('/docs/audio-streams')
    expect(urls('playaudio')).toEqual(['/docs/audio-streams#playaudio'])
    expect(urls('audioserver')).toEqual(['/docs/verbs#shape-AudioServer'])
    expect(urls('bidirectionalaudio.streaming')).toEqual([
      '/docs/verbs#verb-listen',
      '/docs/verbs#shape-AudioServer',
    ])
    expect((await pageAt('/docs/verbs')).body).toContain('<a href="/docs/audio-streams">Audio servers</a>')
  })

  it('finds a section of a guide by every word of it, commands included', async () => {
    const entries = JSON.parse((await pageAt('/docs/search.json')).body) as SearchEntry[]
    const urls = (word: string): string[] =>
      entries.filter(([, , , words = '']) => words.split(' ').includes(word)).map(([, , url]) => url)
    for (const word of ['restore', 'sqlite3', 'pg_dump'])
      expect(urls(word)).toContain('/docs/guides/production#backup')
    expect(urls('stdio.so')).toContain('/docs/guides/softphone#baresip')
  })

  it('shows words, and no marks of Markdown', async () => {
    const entries = JSON.parse((await pageAt('/docs/search.json')).body) as SearchEntry[]
    const isMarked = (text: string): boolean => /`|\]\(|\*\*|(^|: )- |(?<!\w)_[^_]+_(?!\w)/.test(text)
    expect(entries.filter(([title, text]) => isMarked(title) || isMarked(text))).toEqual([])
    expect(entries).toContainEqual(
      expect.arrayContaining([
        'What to know',
        expect.stringMatching(/^guide: Let callers wait for an agent: npm run example/),
      ]),
    )
  })

  it('marks what is not served, and has a field that two operations take alike once', async () => {
    const entries = JSON.parse((await pageAt('/docs/search.json')).body) as SearchEntry[]
    const of = (title: string): string[] => entries.filter(([one]) => one === title).map(([, text]) => text)
    expect(of('mute_status')).toHaveLength(1)
    expect(of('dual_streams')).toEqual([expect.stringContaining(', not served yet: ')])
    expect(of('target[].sipUri')).toEqual([expect.stringMatching(/^dial: /)])
  })
})

describe('/docs/resources', () => {
  it('has the page of a resource in any case of its name', async () => {
    const { statusCode, body } = await pageAt('/docs/resources/calls')
    expect([statusCode, body.includes('<h1>Calls</h1>')]).toEqual([200, true])
  })
})

describe('/docs/errors', () => {
  it('has a page with cause and cure for each code', async () => {
    const list = await pageAt('/docs/errors')
    for (const code of Object.keys(catalogue)) {
      expect(list.body).toContain(`href="/docs/errors/${code}"`)
      const { statusCode, body } = await pageAt(`/docs/errors/${code}`)
      expect(statusCode).toBe(200)
      expect(body).toMatch(/<h2>Cause<\/h2>\s*<p>[^<]/)
      expect(body).toMatch(/<h2>Cure<\/h2>\s*<p>[^<]/)
    }
  })

  it.each(['nothing', 'toString', '__proto__', '%3Cscript%3E'])('answers 404 {msg} to %s', async (code) => {
    const { statusCode, body } = await pageAt(`/docs/errors/${code}`)
    expect([statusCode, JSON.parse(body)]).toMatchObject([404, { msg: 'no such page' }])
  })
})

describe('templates', () => {
  it('escape what they hold, and only once', () => {
    expect(html`<p>${'<b>&"\''}${html`<i>${'<'}</i>`}</p>`.text).toBe(
      '<p>&lt;b&gt;&amp;&quot;&#39;<i>&lt;</i></p>',
    )
    expect(prose('a `<b>` c').text).toBe('a <code>&lt;b&gt;</code> c')
  })
})
