// The pages of /docs in a real browser: readable on a phone, and found by their search, which the content policy
// permits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPlatform, type Platform } from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'
import { startChromium, type Browser } from './chromium.ts'

describe.skipIf(isMissing('chromium'))('/docs in a browser', () => {
  let platform: Platform
  let browser: Browser
  beforeAll(async () => {
    platform = await startPlatform()
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
  })

  const open = (path: string, width: number): Promise<void> =>
    browser.open(`http://127.0.0.1:${platform.httpPort}${path}`, { width, height: 800 })

  it.each([
    '/docs',
    '/docs/verbs',
    '/docs/hooks',
    '/docs/resources',
    '/docs/resources/Applications',
    '/docs/errors',
    '/docs/routing',
    '/docs/settings',
    '/docs/guides/production',
  ])('%s fits a phone without sideways scrolling, with its text before the menu', async (path) => {
    await open(path, 390)
    expect(await browser.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    const [heading, menu] = await browser.evaluate<[number, number]>(
      "['h1', '#menu'].map((part) => document.querySelector(part).getBoundingClientRect().top)",
    )
    expect(heading).toBeLessThan(200)
    expect(heading).toBeLessThan(menu)
  })

  it('the search of /docs finds a verb, an endpoint and an error by words, and opens them', async () => {
    for (const [words, url] of [
      ['gather', '/docs/verbs#verb-gather'],
      ['post calls', '/docs/resources/Calls#'],
      ['account_share', '/docs/errors/account_share'],
      ['gather zebra crossing', '/docs/verbs#verb-gather'],
    ] as const) {
      await open('/docs', 1200)
      await browser.evaluate(
        `(() => { const input = document.querySelector('#search input'); input.value = ${JSON.stringify(words)}; input.dispatchEvent(new Event('input')) })()`,
      )
      const first = await until('a result', () =>
        browser.evaluate<string | undefined>("document.querySelector('#search a')?.href"),
      )
      expect(new URL(first).pathname + new URL(first).hash).toMatch(new RegExp(`^${url}`))
      await browser.evaluate("document.querySelector('#search a').click()")
      await until('the page', () =>
        browser.evaluate<boolean>(
          `location.href === ${JSON.stringify(first)} && document.querySelector('h1') !== null`,
        ),
      )
    }
  })

  it('the search of /docs says so if no page has the words', async () => {
    await open('/docs', 1200)
    await browser.evaluate(
      "(() => { const input = document.querySelector('#search input'); input.value = 'zqxj'; input.dispatchEvent(new Event('input')) })()",
    )
    const said = await until('the sentence', () =>
      browser.evaluate<string | undefined>("document.querySelector('#search li')?.textContent"),
    )
    expect(said).toBe('Nothing has these words. All pages are in the menu.')
  })

  it('the examples show the address at which the page was read', async () => {
    for (const path of ['/docs', '/docs/hooks', '/docs/guides/first-application']) {
      await open(path, 1200)
      const text = await until('the page with its examples', async () => {
        const shown = await browser.evaluate<string>("document.querySelector('main')?.textContent ?? ''")
        return shown.includes(`http://127.0.0.1:${platform.httpPort}/v1`) ? shown : undefined
      })
      expect(text).not.toContain('127.0.0.1:3000/v1')
    }
  })

  it('/docs breaks no rule of its content policy', () => {
    expect(browser.problems.filter((text) => !text.includes('favicon'))).toEqual([])
  })
})
