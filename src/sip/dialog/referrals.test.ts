// REFER and its NOTIFYs within a dialog, on the wire: RFC 3515, RFC 4488, RFC 5057.
import { describe, expect, it } from 'vitest'
import {
  callIn,
  callOut,
  listenerOf,
  openStage,
  peerAddress,
  settled,
  type Stage,
} from '../../../test/support/sip-stage.ts'
import { headerOf } from '../message/message.ts'
import type { Dialog, IncomingReferral, ReferReport } from '../dialogs.ts'
import type { Remote } from '../transport/transports.ts'

const serves = { referrals: true }
const referTo = 'Refer-To: <sip:carol@c.example?Replaces=x%40y%3Bto-tag%3D1%3Bfrom-tag%3D2&X-Why=because>'

interface Referred {
  readonly stage: Stage
  readonly dialog: Dialog
  readonly referrals: IncomingReferral[]
}

async function refer(
  lines: readonly string[] = [referTo],
  by: Remote['transport'] = 'udp',
): Promise<Referred> {
  const stage = await openStage({ serves, by })
  const referrals: IncomingReferral[] = []
  const dialog = await callIn(stage)
  dialog.listen({ ...listenerOf([]), referred: (referral) => void referrals.push(referral) })
  stage.peer.send('REFER', { lines })
  await stage.soon()
  return { stage, dialog, referrals }
}

/** Each NOTIFY once: its state and its line. */
const reportsOf = (stage: Stage): string[] => [
  ...new Set(
    stage.peer.received
      .filter((message) => message.kind === 'request' && message.method === 'NOTIFY')
      .map((message) => {
        const [, status = ''] = Buffer.from(message.body).toString().split(' ')
        return `${headerOf(message, 'subscription-state')} ${status}`
      }),
  ),
]

describe('a REFER of the far end', () => {
  it('reaches the owner with where it leads, what it replaces and on whose behalf', async () => {
    const { referrals } = await refer([referTo, 'Referred-By: <sip:peer@b.example>'])
    expect(referrals).toMatchObject([
      {
        referTo: 'sip:carol@c.example',
        replaces: { callId: 'x@y', toTag: '1', fromTag: '2', isEarlyOnly: false },
        headers: [{ name: 'x-why', value: 'because' }],
        referredBy: '<sip:peer@b.example>',
      },
    ])
  })

  it('is accepted with 202, reported as tried at once, and reported to the end, in order (RFC 3515 §2.4.4)', async () => {
    const { stage, referrals } = await refer()
    const subscription = referrals[0]!.accept()
    await stage.soon()
    expect(stage.peer.starts.slice(1)).toEqual(['202', 'NOTIFY'])
    expect(headerOf(stage.peer.last('202'), 'contact')).toContain('sip:agent@')
    // While the first is unanswered, only the newest waits behind it.
    subscription.notify(180)
    subscription.notify(183)
    await stage.soon()
    expect(reportsOf(stage)).toEqual(['active;expires=180 100'])
    for (const status of [200, 0]) {
      stage.peer.respond('NOTIFY', 200)
      await stage.soon()
      if (status > 0) subscription.notify(status)
    }
    stage.peer.respond('NOTIFY', 200)
    await stage.soon()
    expect(reportsOf(stage)).toEqual([
      'active;expires=180 100',
      'active;expires=180 183',
      'terminated;reason=noresource 200',
    ])
    subscription.notify(486)
    await stage.soon()
    expect(reportsOf(stage)).toHaveLength(3)
    expect(headerOf(stage.peer.last('NOTIFY'), 'event')).toBe('refer')
    // RFC 3265 §7.1 demands a Contact in a NOTIFY.
    expect(new Set(stage.peer.valuesOf('NOTIFY', 'contact'))).toEqual(
      new Set([headerOf(stage.peer.last('202'), 'contact')]),
    )
  })

  it.each(['udp', 'tcp'] as const)(
    'by %s is done when the last report has its response, not before',
    async (by) => {
      const { stage, referrals } = await refer([referTo], by)
      const subscription = referrals[0]!.accept()
      let isDone = false
      void subscription.done.then(() => (isDone = true))
      await stage.soon()
      subscription.notify(200)
      for (const expected of [false, true]) {
        expect(isDone).toBe(false)
        stage.peer.respond('NOTIFY', 200)
        await stage.soon()
        expect(isDone).toBe(expected)
      }
      expect(reportsOf(stage)).toEqual(['active;expires=180 100', 'terminated;reason=noresource 200'])
    },
  )

  it('is refused as its owner says, and reported to no end', async () => {
    const { stage, referrals } = await refer()
    referrals[0]!.reject({ status: 603, headers: [{ name: 'X-Reason', value: 'no' }] })
    referrals[0]!.accept().notify(200)
    await stage.soon()
    expect(stage.peer.starts.slice(1)).toEqual(['603'])
    expect(headerOf(stage.peer.last('603'), 'x-reason')).toBe('no')
  })

  it('of a far end that wants no reports is answered so, and gets none (RFC 4488 §4)', async () => {
    const { stage, referrals } = await refer([referTo, 'Supported: norefersub', 'Refer-Sub: false'])
    referrals[0]!.accept().notify(200)
    await stage.soon()
    expect(headerOf(stage.peer.last('202'), 'refer-sub')).toBe('false')
    expect(stage.peer.starts).not.toContain('NOTIFY')
  })

  it.each([
    ['no Refer-To', [], '400'],
    ['two', [referTo, referTo], '400'],
    ['one that is no address', ['Refer-To: carol'], '400'],
    ['one that wants a BYE sent', ['Refer-To: <sip:c@c;method=BYE>'], '400'],
    ['one that cannot be called', ['Refer-To: <http://c.example>'], '416'],
  ])('with %s is refused without a word to the owner', async (_what, lines, status) => {
    const { stage, referrals } = await refer(lines)
    expect(stage.peer.starts.at(-1)).toBe(status)
    expect(referrals).toEqual([])
  })

  it('is not allowed where the stack serves none, nor where this listener does not', async () => {
    for (const [options, allowed] of [
      [{}, false],
      [{ serves }, true],
    ] as const) {
      const stage = await openStage(options)
      const dialog = await callIn(stage)
      const told: string[] = []
      dialog.listen(listenerOf(told))
      expect(headerOf(stage.peer.last('200'), 'allow')?.includes('REFER')).toBe(allowed)
      expect(headerOf(stage.peer.last('200'), 'supported')?.includes('norefersub')).toBe(allowed)
      stage.peer.send('REFER', { lines: [referTo] })
      await stage.soon()
      expect(headerOf(stage.peer.last('405'), 'allow')).not.toContain('REFER')
      expect(told).toEqual(['confirmed'])
    }
  })

  it('beside the first has its CSeq as the id of its NOTIFYs; a fifth at once has to wait (RFC 3515 §2.4.6)', async () => {
    const { stage, referrals } = await refer()
    for (let count = 2; count <= 5; count += 1) {
      stage.peer.send('REFER', { lines: [referTo], cseq: count * 10 })
      await stage.soon()
    }
    expect(stage.peer.starts.at(-1)).toBe('491')
    for (const referral of referrals) referral.accept()
    await stage.soon()
    expect(stage.peer.valuesOf('NOTIFY', 'event')).toEqual([
      'refer',
      'refer;id=20',
      'refer;id=30',
      'refer;id=40',
    ])
  })

  it('is reported on after the far end has hung up, and nothing is left afterwards (RFC 5057 §4)', async () => {
    const { stage, referrals } = await refer()
    const subscription = referrals[0]!.accept()
    await stage.soon()
    stage.peer.respond('NOTIFY', 200)
    stage.peer.send('BYE')
    await stage.soon()
    subscription.notify(200)
    await stage.soon()
    expect(reportsOf(stage).at(-1)).toBe('terminated;reason=noresource 200')
    expect(stage.peer.request('NOTIFY').uri).toBe(`sip:peer@${peerAddress}`)
    // The call itself is gone.
    stage.peer.send('INFO')
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('481')
    stage.peer.respond('NOTIFY', 200)
    await stage.pass(64_000)
    expect(stage.isQuiet()).toBe(true)
  })

  it('is over for a far end that refuses a NOTIFY, and the call goes on', async () => {
    const { stage, dialog, referrals } = await refer()
    const subscription = referrals[0]!.accept()
    await stage.soon()
    stage.peer.respond('NOTIFY', 481)
    await stage.soon()
    subscription.notify(200)
    await stage.soon()
    expect(reportsOf(stage)).toHaveLength(1)
    void dialog.request('INFO')
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('INFO')
  })

  it('that takes longer than three minutes is reported as over in time', async () => {
    const { stage, referrals } = await refer()
    const subscription = referrals[0]!.accept()
    await stage.soon()
    stage.peer.respond('NOTIFY', 200)
    await stage.pass(100_000)
    subscription.notify(180)
    await stage.soon()
    stage.peer.respond('NOTIFY', 200)
    await stage.pass(81_000)
    expect(reportsOf(stage)).toEqual([
      'active;expires=180 100',
      'active;expires=80 180',
      'terminated;reason=timeout 180',
    ])
    subscription.notify(200)
    await stage.soon()
    expect(reportsOf(stage)).toHaveLength(3)
  })

  it('leaves no timer when the stack stops', async () => {
    const { stage, referrals } = await refer()
    referrals[0]!.accept()
    await stage.soon()
    await stage.agent.stop()
    expect(stage.clock.pending).toBe(0)
  })
})

describe('a REFER that we send', () => {
  async function sendRefer(status = 202, lines: readonly string[] = []) {
    const stage = await openStage()
    const dialog = await callOut(stage)
    const reports: ReferReport[] = []
    const response = dialog.refer({
      referTo: 'sip:carol@c.example',
      referredBy: 'sip:agent@a.example',
      replaces: { callId: 'x@y', toTag: '1', fromTag: '2', isEarlyOnly: false },
      headers: [{ name: 'X-Why', value: 'because' }],
      notified: (report) => void reports.push(report),
    })
    dialog.listen(listenerOf([]))
    await stage.soon()
    stage.peer.respond('REFER', status, { lines })
    await stage.soon()
    return { stage, dialog, reports, response: await settled(response) }
  }
  const notify = async (stage: Stage, state: string, body: string, event = 'refer'): Promise<void> => {
    stage.peer.send('NOTIFY', {
      lines: [`Event: ${event}`, `Subscription-State: ${state}`, 'Content-Type: message/sipfrag;version=2.0'],
      content: body,
    })
    await stage.soon()
  }

  it('says where to, in place of what and on whose behalf, and resolves with its response', async () => {
    const { stage, response } = await sendRefer()
    const request = stage.peer.request('REFER')
    const names = ['refer-to', 'referred-by', 'x-why', 'cseq', 'contact']
    expect(names.map((name) => headerOf(request, name))).toEqual([
      '<sip:carol@c.example?Replaces=x%40y%3Bto-tag%3D1%3Bfrom-tag%3D2>',
      '<sip:agent@a.example>',
      'because',
      '2 REFER',
      headerOf(stage.peer.request('INVITE'), 'contact'),
    ])
    expect(response.status).toBe(202)
  })

  it('has its NOTIFYs answered and reported until the last', async () => {
    const { stage, reports } = await sendRefer()
    await notify(stage, 'active;expires=60', 'SIP/2.0 100 Trying\r\n')
    await notify(stage, 'active;expires=60', 'SIP/2.0 180 Ringing\r\n', 'refer;id=2')
    await notify(stage, 'terminated;reason=noresource', 'SIP/2.0 200 OK\r\n')
    expect(stage.peer.starts.slice(-3)).toEqual(['200', '200', '200'])
    expect(reports).toEqual([
      { status: 100, reason: 'Trying', isLast: false },
      { status: 180, reason: 'Ringing', isLast: false },
      { status: 200, reason: 'OK', isLast: true },
    ])
    await notify(stage, 'terminated', 'SIP/2.0 200 OK\r\n')
    expect(stage.peer.starts.at(-1)).toBe('481')
    expect(reports).toHaveLength(3)
  })

  it.each([
    ['of another REFER', 'refer;id=7', '481'],
    ['of another event', 'message-summary', '489'],
  ])('takes no NOTIFY %s', async (_what, event, status) => {
    const { stage, reports } = await sendRefer()
    await notify(stage, 'active', 'SIP/2.0 100 Trying\r\n', event)
    expect(stage.peer.starts.at(-1)).toBe(status)
    expect(reports).toEqual([])
  })

  it.each([
    ['is refused', 603, []],
    ['is accepted without reports', 202, ['Refer-Sub: false']],
  ])('that %s expects no NOTIFY', async (_what, status, lines) => {
    const { stage, response, reports } = await sendRefer(status, lines)
    expect(response.status).toBe(status)
    await notify(stage, 'active', 'SIP/2.0 100 Trying\r\n')
    expect(stage.peer.starts.at(-1)).toBe('481')
    expect(reports).toEqual([])
  })

  it('hears how the call ended after the far end has hung up, and that no report came', async () => {
    const { stage, reports } = await sendRefer()
    stage.peer.send('BYE')
    await stage.soon()
    await notify(stage, 'active', 'SIP/2.0 180 Ringing\r\n')
    expect(reports).toEqual([{ status: 180, reason: 'Ringing', isLast: false }])
    await stage.pass(181_000)
    expect(reports.at(-1)).toEqual({ isLast: true })
    expect(stage.isQuiet()).toBe(true)
  })

  it('goes to no place that is no address, nor after the end of the call', async () => {
    const { stage, dialog } = await sendRefer(603)
    await expect(dialog.refer({ referTo: 'carol' })).rejects.toMatchObject({ code: 'bad_request' })
    await expect(dialog.refer({ referTo: 'sip:c@c', referredBy: 'me' })).rejects.toMatchObject({
      code: 'bad_request',
    })
    stage.peer.send('BYE')
    await stage.soon()
    expect((await settled(dialog.refer({ referTo: 'sip:c@c' }))).status).toBe(481)
    await stage.pass(64_000)
    expect(stage.isQuiet()).toBe(true)
  })
})
