// The share of one account of a platform that several use, over real sockets: while all of its permitted calls ring,
// another account still calls and is heard.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApplication, type Application } from '../support/application.ts'
import { openRawPhone, type RawMessage, type RawPhone } from '../support/phone.ts'
import { endedJournal } from '../support/call-ends.ts'
import {
  provision,
  recentCalls,
  startPlatform,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { startSipp } from '../support/sipp.ts'
import { isMissing } from '../support/tools.ts'
import { tone, toWav } from '../support/audio.ts'

let application: Application
let platform: Platform
let ringing: RawPhone
let greedy: Tenant
let other: Tenant

beforeAll(async () => {
  application = await startApplication()
  application.on('/call', { json: [{ verb: 'play', url: application.url('/tone.wav') }, { verb: 'hangup' }] })
  application.on('/tone.wav', { status: 200, body: toWav(tone(1000, 500)) })
  application.on('/status', { status: 200 })
  platform = await startPlatform()
  greedy = await provision(platform.api, { application, isBusy: true })
  other = await provision(platform.api, { application })
  ringing = await openRawPhone(platform.sip)
})

afterAll(async () => {
  await ringing?.close()
  await platform?.remove()
  await application?.close()
})

/** Sends 180 to an INVITE, and never a final response. */
function ring({ text, start }: RawMessage): Promise<void> | undefined {
  if (!start.startsWith('INVITE ')) return undefined
  const lines = text.split('\r\n')
  const fields = lines.filter((line) => /^(via|from|call-id|cseq):/i.test(line))
  const to = lines.find((line) => /^to:/i.test(line)) ?? ''
  return ringing.send(
    ['SIP/2.0 180 Ringing', ...fields, `${to};tag=ringing`, 'Content-Length: 0', '', ''].join('\r\n'),
  )
}

function place({ account_sid, application_sid }: Tenant, port: number) {
  const to = { type: 'sip', sipUri: `sip:bob@127.0.0.1:${port}` }
  return platform.api.call('POST', `/Accounts/${account_sid}/Calls`, {
    from: '+15550100',
    to,
    application_sid,
    timeout: 3600,
  })
}

describe.skipIf(isMissing('sipp'))('an account that makes all the calls it can', () => {
  it('calls beyond an account’s share are refused with a code and a cure, while another account calls', async () => {
    let answered = 0
    const answers = setInterval(() => {
      for (; answered < ringing.received.items.length; answered += 1)
        void ring(ringing.received.items[answered]!)
    }, 10)
    try {
      let placed = 0
      let refused = await place(greedy, ringing.port)
      for (; refused.status === 201; placed += 1) refused = await place(greedy, ringing.port)
      // Four in five, or one fewer if the first port is odd and so the last pair is missing.
      expect(placed).toBeGreaterThanOrEqual(39)
      expect(placed).toBeLessThanOrEqual(40)
      expect(refused.status).toBe(503)
      expect(refused.headers.get('retry-after')).toBe('5')
      expect(refused.body).toMatchObject({
        code: 'account_share',
        msg: 'Max Account Share Of Calls In Progress',
      })

      const callee = await startSipp({ scenario: 'uas-answer', timeoutSeconds: 40 })
      expect((await place(other, callee.port)).status).toBe(201)
      expect((await callee.finished).report).toBe('')
      const [record] = await recentCalls(platform.api, other.account_sid, 1)
      expect(record).toMatchObject({ answered: true, sip_status: 200 })
      const journal = await endedJournal(platform.api, other.account_sid, record!.call_sid)
      const closed = journal.find(({ type }) => type === 'media-closed')
      expect(Number(closed?.['packets_sent'])).toBeGreaterThanOrEqual(25)

      // A limit set by the operator has priority over the share.
      await platform.api.must('POST', `/Accounts/${greedy.account_sid}/Limits`, {
        category: 'voice_call_session',
        quantity: 45,
      })
      for (let count = 0; count < 5; count += 1) expect((await place(greedy, ringing.port)).status).toBe(201)
    } finally {
      clearInterval(answers)
    }
  })
})
