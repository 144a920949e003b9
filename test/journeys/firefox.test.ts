// Firefox as a phone, with another ICE and DTLS stack than Chromium: it keeps its association over an ICE restart.
import { networkInterfaces } from 'node:os'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { tone, toneSegments, toWav } from '../support/audio.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  productionSettings,
  provision,
  startPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { freePorts } from '../support/ports.ts'
import { openSoftphone, type SoftphoneInBrowser } from '../support/softphone-page.ts'
import { isMissing } from '../support/tools.ts'
import { until } from '../support/wait.ts'

const [browserHz, phoneHz, applicationHz] = [700, 1100, 1500]

// Firefox sends nothing to 127.0.0.1. Its packets stay on this machine: those to an own address take the loopback.
const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
const address = own.find(({ internal, family }) => !internal && family === 'IPv4')?.address

/** Offers new ICE credentials, as `restartIce` has it, and takes the offer back. Returns the refusal. */
const restart = `(async () => {
  const { session } = window.phone
  const { connection } = session
  await connection.setLocalDescription(await connection.createOffer({ iceRestart: true }))
  const answer = await new Promise((done) =>
    session.sendRequest('INVITE', {
      body: connection.localDescription.sdp,
      extraHeaders: ['Content-Type: application/sdp', 'Contact: ' + session.contact],
      eventHandlers: { onSuccessResponse: done, onErrorResponse: done },
    }))
  await connection.setLocalDescription({ type: 'rollback' })
  return { status: answer.status_code, reason: answer.getHeader('X-Reason') }
})()`

describe.skipIf(isMissing('firefox', 'baresip') || (address === undefined && process.env['CI'] !== 'true'))(
  'Firefox',
  () => {
    let application: Application
    let platform: Platform
    let tenant: Tenant
    let page: SoftphoneInBrowser
    let bob: Baresip

    beforeAll(async () => {
      application = await startApplication()
      application.on('/status', { status: 200 })
      application.on('/tone.wav', { status: 200, body: toWav(tone(applicationHz, 40_000)) })
      const httpsPort = await freePorts(1)
      platform = await startPlatform({
        env: {
          // It can be reached from the network, so that its keys are secret.
          ...productionSettings(),
          NODE_ENV: '',
          SWITCHHOOK_BIND: '0.0.0.0',
          SWITCHHOOK_PUBLIC_ADDRESS: '',
          SWITCHHOOK_HTTPS_PORT: String(httpsPort),
          SWITCHHOOK_MEDIA_WORKERS: '1',
          SWITCHHOOK_DRAIN_SECONDS: '0',
        },
      })
      tenant = await provision(platform.api, { application })
      const { account_sid, password } = tenant
      await platform.api.must('POST', '/Clients', { account_sid, username: 'bob', password })
      const says = tone(phoneHz, 60_000)
      bob = await startBaresip({
        ...tenant,
        username: 'bob',
        says,
        answers: 'auto',
        proxy: platform.sip,
        codecs: 'PCMU',
      })
      await bob.registered()
      page = await openSoftphone({
        platform: { httpsPort, dataDir: platform.dataDir },
        tenant,
        saysHz: browserHz,
        firefox: { address: String(address) },
      })
    }, 90_000)

    afterEach(async () => {
      if (await page.evaluate("!document.getElementById('hangup').hidden")) await page.press('hangup')
    })

    afterAll(async () => {
      await page?.close()
      await bob?.stop()
      await Promise.all([platform?.remove(), application?.close()])
    })

    const holdSays = (text: string): Promise<boolean> =>
      until(`the button to say ${text}`, () =>
        page.evaluate<boolean>(
          `(({ textContent, disabled }) => textContent === '${text}' && !disabled)(document.getElementById('hold'))`,
        ),
      )

    const bobHeardMs = async (): Promise<number> => {
      const heard = await bob.heard().catch(() => undefined)
      const segments = heard === undefined ? [] : toneSegments(heard, browserHz)
      return segments.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
    }

    const hearEachOther = async (formerMs = 0): Promise<void> => {
      await page.hears(phoneHz)
      await until('the desk phone to hear more of Firefox', async () => (await bobHeardMs()) > formerMs + 300)
    }

    /** Returns the call to Firefox, which has a journal of its own. */
    const calledLeg = async (): Promise<string> => {
      const calls = await platform.api.must<{ call_sid: string; direction: string }[]>(
        'GET',
        `/Accounts/${tenant.account_sid}/Calls`,
      )
      return calls.find(({ direction }) => direction === 'outbound')?.call_sid ?? ''
    }

    it('Firefox and a desk phone hear each other, even after a hold', async () => {
      await page.call('bob')
      await page.says(/^connected$/)
      await hearEachOther()
      await page.press('hold')
      await holdSays('Resume')
      await page.press('hold')
      await holdSays('Hold')
      await hearEachOther(await bobHeardMs())
      await page.press('hangup')
      await page.says(/^ended/)
    })

    it('Firefox hears an application, and sends it keys', async () => {
      application.on('/call', {
        json: [
          {
            verb: 'gather',
            input: ['digits'],
            numDigits: 2,
            timeout: 30,
            actionHook: '/keys',
            play: { url: application.url('/tone.wav') },
          },
          { verb: 'hangup' },
        ],
      })
      application.on('/keys', { json: [{ verb: 'hangup' }] })
      await page.call(`app-${tenant.application_sid}`)
      await page.says(/^connected$/)
      await page.hears(applicationHz)
      await page.press('key-4')
      await page.press('key-7')
      await page.says(/^ended/)
      expect(application.to('/keys')).toMatchObject([{ body: { digits: '47' } }])
    })

    it('Firefox is called; its ICE restart is refused with 488 and the reason, and both still hear each other', async () => {
      await bob.dial(`sip:${tenant.username}@${tenant.realm}`)
      await page.says(/^bob calls$/)
      await page.press('answer')
      await page.says(/^connected$/)
      await hearEachOther()
      const sid = await calledLeg()
      expect(await page.evaluate(restart)).toEqual({ status: 488, reason: expect.stringMatching(/ICE/) })
      await hearEachOther(await bobHeardMs())
      await bob.hangUp()
      await page.says(/^ended/)
      const events = await endedJournal(platform.api, tenant.account_sid, sid)
      expect(events.filter(({ type }) => type === 'problem')).toMatchObject([
        { code: 'ice_restart_unavailable' },
      ])
    })
  },
)
