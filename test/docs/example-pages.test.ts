// The pages of the demo and the examples in Chromium: light, dark, as narrow as a phone, under their own policy.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveSoftphone, type SoftphonePage } from '../../examples/browser/serve-softphone.ts'
import { callCentre } from '../../examples/call-centre.ts'
import { clickToCall } from '../../examples/click-to-call.ts'
import type { Example } from '../../examples/run/example.ts'
import { startHookServer, type HookServer } from '../../examples/run/serve-hooks.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import { startChromium, type Browser } from './chromium.ts'

const account = { realm: 'demo.switchhook.test', username: 'demo-1', password: 'secret', number: '500' }
// Port 9 takes no connection: the pages are looked at without a platform.
const loopback = 'ws://127.0.0.1:9'
const pictures = process.env['SWITCHHOOK_TEST_PICTURES']

describe.skipIf(isMissing('chromium'))('a page of the demo or an example', () => {
  let browser: Browser
  let softphone: SoftphonePage
  let servers: HookServer[] = []
  const urls: Record<string, string> = {}

  async function serve(example: Example): Promise<string> {
    const server = await startHookServer({ port: 0, print: () => undefined })
    servers = [...servers, server]
    const api = (): Promise<unknown> => Promise.reject(new Error('The user is not registered'))
    server.serve(example.create({ url: server.url, application_sid: 'a', api }), 's', async () => undefined)
    return `${server.url}/`
  }

  beforeAll(async () => {
    browser = await startChromium()
    softphone = await serveSoftphone({ ...account, server: loopback })
    urls['softphone'] = softphone.url
    urls['call-centre'] = await serve(callCentre)
    urls['click-to-call'] = await serve(clickToCall)
  })
  afterAll(async () => {
    await Promise.all([browser?.close(), softphone?.close(), ...servers.map((server) => server.close())])
  })

  /** Returns the brightness of a colour, 0 to 255. */
  const brightness = (of: string): Promise<number> =>
    browser.evaluate(
      `(() => { const [r, g, b] = getComputedStyle(document.${of}).backgroundColor.match(/[\\d.]+/g).map(Number); return (r + g + b) / 3 })()`,
    )

  const views = [
    { view: 'light', width: 1000, isDark: false },
    { view: 'dark', width: 1000, isDark: true },
    { view: 'narrow', width: 360, isDark: true },
  ]
  it.each(
    ['softphone', 'call-centre', 'click-to-call'].flatMap((name) => views.map((view) => ({ name, ...view }))),
  )('$name is readable: $view', async ({ name, view, width, isDark }) => {
    await browser.open(urls[name] ?? '', { width, height: 800, isDark })
    if (pictures !== undefined)
      await writeFile(join(pictures, `${name}-${view}.png`), await browser.screenshot())
    expect(await browser.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    const [page, card] = [await brightness('body'), await brightness("querySelector('main')")]
    if (isDark) expect(Math.max(page, card)).toBeLessThan(60)
    else expect(Math.min(page, card)).toBeGreaterThan(200)
  })

  it('breaks no rule of its own policy, which allows no script or style from elsewhere', async () => {
    for (const url of Object.values(urls)) {
      const policy = (await fetch(url)).headers.get('content-security-policy')
      expect(policy).toMatch(
        /^default-src 'none'; script-src 'self' 'sha256-[^;]*; style-src 'self'; connect-src /,
      )
      expect(policy).not.toContain('unsafe')
    }
    expect(browser.problems.filter((text) => /policy|refused to/i.test(text))).toEqual([])
  })

  it('the softphone says what it is, whose phone, and of which platform', async () => {
    await browser.open(urls['softphone'] ?? '', { width: 1000, height: 800 })
    const text = await browser.evaluate<string>("document.querySelector('main').innerText")
    expect(text).toMatch(
      /This page is a phone: .* platform at 127\.0\.0\.1:9, .* demo-1@demo\.switchhook\.test\./,
    )
  })

  it('the wallboard shows figures instead of JSON', async () => {
    await browser.open(urls['call-centre'] ?? '', { width: 1000, height: 800 })
    await until('the figures', () =>
      browser.evaluate<boolean>("document.getElementById('longest_wait_seconds').textContent === '0 s'"),
    )
    expect(await browser.evaluate("document.querySelector('main').innerText")).not.toMatch(/[{}]/)
  })

  it('click to call says why no call was placed', async () => {
    await browser.open(urls['click-to-call'] ?? '', { width: 1000, height: 800 })
    await browser.evaluate("document.querySelector('button').click()")
    const said = await until('the answer', async () => {
      const text = await browser.evaluate<string>("document.getElementById('answer').textContent")
      return text === '' ? undefined : text
    })
    expect(said).toBe('The user is not registered')
  })
})

describe.skipIf(isMissing('chromium'))('the softphone in Firefox', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startChromium([
      '--user-agent=Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    ])
  })
  afterAll(() => browser?.close())

  const shows = async (networkServer?: string): Promise<{ server: string; isSilent: boolean }> => {
    const page = await serveSoftphone({ ...account, server: loopback, networkServer })
    try {
      await browser.open(page.url, { width: 600, height: 800 })
      return await browser.evaluate("({ server: document.getElementById('server').textContent, isSilent })")
    } finally {
      await page.close()
    }
  }

  it('uses the address of the network, to which Firefox sends sound', async () => {
    expect(await shows('ws://192.0.2.7:9')).toEqual({ server: '192.0.2.7:9', isSilent: false })
  })

  it('says that there is no sound if the platform is at 127.0.0.1 alone', async () => {
    expect(await shows()).toEqual({ server: '127.0.0.1:9', isSilent: true })
  })
})
