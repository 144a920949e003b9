// A real browser as a phone: the softphone page of the examples in Chromium, over WebSockets, ICE, DTLS and SRTP.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { serveSoftphone } from '../../examples/browser/serve-softphone.ts'
import type { SoftphonePage } from '../../examples/browser/serve-softphone.ts'
import { startChromium } from '../docs/chromium.ts'
import type { Browser } from '../docs/chromium.ts'
import { startApplication } from '../support/application.ts'
import type { Application } from '../support/application.ts'
import { tone, toneSegments, toWav } from '../support/audio.ts'
import { startBaresip } from '../support/baresip.ts'
import type { Baresip } from '../support/baresip.ts'
import { endedJournal } from '../support/call-ends.ts'
import { adminApiKey, provision, recentCalls, sharedPlatform } from '../support/platform-process.ts'
import type { Platform, Tenant } from '../support/platform-process.ts'
import { ToolProcess } from '../support/processes.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const [browserHz, phoneHz] = [700, 1100]

let folder: string
let application: Application
let platform: Platform
let tenant: Tenant
let browser: Browser
let page: SoftphonePage
let bob: Baresip

/** The loudest frequency of what the page hears, of one look at it. */
const loudest = `(async () => {
  const { stream } = window.phone
  if (stream === undefined) return 0
  const context = (window.listening ??= new AudioContext({ sampleRate: 8000 }))
  const analyser = context.createAnalyser()
  analyser.fftSize = 2048
  context.createMediaStreamSource(stream).connect(analyser)
  await new Promise((resolve) => setTimeout(resolve, 400))
  const levels = new Float32Array(analyser.frequencyBinCount)
  analyser.getFloatFrequencyData(levels)
  const best = levels.reduce((at, level, index) => (level > levels[at] ? index : at), 0)
  return levels[best] < -60 ? 0 : (best * context.sampleRate) / analyser.fftSize
})()`

const state = (): Promise<string> => browser.evaluate("document.querySelector('#state').textContent")
const isState = (wanted: RegExp): Promise<string> =>
  until(`the page to say ${wanted.source}`, async () => {
    const text = await state()
    return wanted.test(text) ? text : undefined
  })
const press = (id: string): Promise<void> => browser.evaluate(`document.getElementById('${id}').click()`)
const hears = (hz: number): Promise<unknown> =>
  until(`the page to hear ${hz} Hz`, async () => {
    const heard = await browser.evaluate<number>(loudest)
    return Math.abs(heard - hz) < 15 ? heard : undefined
  })

async function call(number: string): Promise<void> {
  await browser.evaluate(`document.getElementById('number').value = ${JSON.stringify(number)}`)
  await press('call')
}

const holdSays = (text: string): string =>
  `(({ textContent, disabled }) => textContent === '${text}' && !disabled)(document.getElementById('hold'))`

const size = { width: 600, height: 800 }

describe.skipIf(isMissing('chromium', 'baresip'))('a browser', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'microphone-'))
    const microphone = join(folder, 'tone.wav')
    await writeFile(microphone, toWav(tone(browserHz, 2000, { sampleRate: 48_000 })))
    application = await startApplication()
    application.on('/status', { status: 200 })
    platform = await sharedPlatform()
    tenant = await provision(platform.api, { application })
    const { account_sid, realm, username, password } = tenant
    await platform.api.must('POST', '/Clients', { account_sid, username: 'bob', password })
    const says = tone(phoneHz, 60_000)
    bob = await startBaresip({ ...tenant, username: 'bob', says, answers: 'auto', proxy: platform.sip })
    await bob.registered()
    page = await serveSoftphone({
      server: `ws://127.0.0.1:${platform.httpPort}`,
      realm,
      username,
      password,
      number: 'bob',
    })
    browser = await startChromium([
      '--use-fake-ui-for-media-stream',
      '--use-fake-device-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}`,
      '--autoplay-policy=no-user-gesture-required',
    ])
    await browser.open(page.url, size)
    await isState(/^ready$/)
  }, 60_000)

  afterEach(async () => {
    if (await browser.evaluate("!document.getElementById('hangup').hidden")) await press('hangup')
  })

  afterAll(async () => {
    await browser?.close()
    await Promise.all([bob?.stop(), page?.close(), application?.close()])
    await rm(folder, { recursive: true, force: true })
  })

  it('calls a desk phone: each hears the other, also after a hold, and the story says by which path', async () => {
    await call('bob')
    await isState(/^connected$/)
    await hears(phoneHz)
    await press('hold')
    await until('the hold', () => browser.evaluate<boolean>(holdSays('Resume')))
    await press('hold')
    await until('its end', () => browser.evaluate<boolean>(holdSays('Hold')))
    await hears(phoneHz)
    await press('hangup')
    await isState(/^ended/)
    await bob.events.next('the end of the call', ({ type }) => type === 'CALL_CLOSED')
    const heard = await bob.heard()
    expect(toneSegments(heard, browserHz).some(({ startMs, endMs }) => endMs - startMs > 300)).toBe(true)
    const [first] = (await recentCalls(platform.api, tenant.account_sid, 2)).filter(
      ({ direction }) => direction === 'inbound',
    )
    const events = await endedJournal(platform.api, tenant.account_sid, String(first?.call_sid))
    expect(events.filter(({ type }) => type === 'media-first-packet')).toMatchObject([{ trust: 'handshake' }])
    const [closed] = events.filter(({ type }) => type === 'media-closed')
    expect(closed).toMatchObject({ packets_lost: 0, packets_ignored: 0 })
  })

  it('calls an application, which gets its keys', async () => {
    application.on('/call', {
      json: [
        { verb: 'gather', input: ['digits'], numDigits: 2, timeout: 20, actionHook: '/keys' },
        { verb: 'hangup' },
      ],
    })
    application.on('/keys', { json: [{ verb: 'hangup' }] })
    await call(`app-${tenant.application_sid}`)
    await isState(/^connected$/)
    await until('the path', () =>
      browser.evaluate<boolean>("window.phone.session.connection.connectionState === 'connected'"),
    )
    await press('key-4')
    await press('key-7')
    await isState(/^ended/)
    expect(application.to('/keys')).toMatchObject([{ body: { digits: '47' } }])
  })

  it('is called by a desk phone, and each hears the other', async () => {
    await bob.dial(`sip:${tenant.username}@${tenant.realm}`)
    await isState(/^bob calls$/)
    await press('answer')
    await isState(/^connected$/)
    await hears(phoneHz)
  })

  it('registers by the one link of the demo, and hears its application', async () => {
    const demo = new ToolProcess({
      command: process.execPath,
      args: [
        join(import.meta.dirname, '../../examples/demo.ts'),
        ...['--browser', '--api-key', adminApiKey],
        ...['--base-url', `http://127.0.0.1:${platform.httpPort}`],
      ],
      cwd: folder,
      env: {},
    })
    try {
      const line = await demo.lines.next('the link', (text) => text.includes('http://localhost:'))
      await browser.open(line.trim(), size)
      await isState(/^ready$/)
      await press('call')
      await isState(/^connected$/)
      await until('the page to hear it speak', async () => (await browser.evaluate<number>(loudest)) > 0)
    } finally {
      await demo.stop('SIGINT')
    }
  })
})
