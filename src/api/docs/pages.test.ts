import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApi } from '../../../test/support/api.ts'
import type { TestApi } from '../../../test/support/api.ts'
import { catalogue } from '../../lib/errors.ts'
import { apiRoutes } from '../index.ts'
import { html, prose } from './html.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

const pageAt = (path: string) => api.http.inject({ method: 'GET', url: path })

describe('/docs', () => {
  it('is one HTML page that names every endpoint, without a token', async () => {
    const { statusCode, headers, body } = await pageAt('/docs')
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    for (const { path, operationId } of apiRoutes) {
      expect(body).toContain(`<code>${path}</code>`)
      expect(body).toContain(`id="${operationId}"`)
    }
  })

  it('shows what was really sent and answered', async () => {
    const { body } = await pageAt('/docs')
    expect(body).toMatch(/<summary>Body, for example<\/summary>\s*<pre>\{\n  &quot;/)
    expect(body).toMatch(/<summary>Answer 200, for example<\/summary>\s*<pre>\[\n  \{/)
  })

  it('loads nothing, runs nothing, and allows neither', async () => {
    const { headers, body } = await pageAt('/docs')
    expect(body).not.toMatch(/<(script|link|img|iframe|object|form)\b|\bon\w+=|style="|url\(|@import/i)
    expect(body).not.toMatch(/(href|src)="(https?:)?\/\//)
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; /)
  })

  it('leads nowhere that is not there', async () => {
    const { body } = await pageAt('/docs')
    const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    for (const [, target] of body.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target)
    for (const [, code] of body.matchAll(/href="\/docs\/errors\/([^"]+)"/g))
      expect(Object.keys(catalogue)).toContain(code)
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
