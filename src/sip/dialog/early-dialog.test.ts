// Messages of the far end of our INVITE before it answers, each written by the test: RFC 3261 §12, RFC 3262, RFC 3311.
import { describe, expect, it } from 'vitest'
import {
  openStage,
  outgoing,
  peerAddress,
  sdp,
  settled,
  type PeerFields,
  type Stage,
  type StageOptions,
} from '../../../test/support/sip-stage.ts'
import { headerOf } from '../message/message.ts'
import type { OutgoingInvite, OutgoingInviteOptions } from '../invites.ts'

interface Ringing {
  readonly stage: Stage
  readonly invite: OutgoingInvite
  /** The provisional responses that its owner received. */
  readonly heard: string[]
}

async function call(
  options: Partial<OutgoingInviteOptions> = {},
  platform: StageOptions = {},
): Promise<Ringing> {
  const stage = await openStage(platform)
  const heard: string[] = []
  const onProvisional: OutgoingInviteOptions['onProvisional'] = (response) =>
    void heard.push(`${response.status} ${headerOf(response, 'rseq') ?? ''}`.trim())
  const invite = stage.agent.invite({ ...outgoing, onProvisional, ...options })
  await stage.soon()
  return { stage, invite, heard }
}

async function ring(stage: Stage, fields: PeerFields = {}, status = 180): Promise<void> {
  stage.peer.respond('INVITE', status, fields)
  await stage.soon()
}

const reliable = (rseq: number, fields: PeerFields = {}): PeerFields => ({
  ...fields,
  lines: ['Require: 100rel', `RSeq: ${rseq}`, ...(fields.lines ?? [])],
})

describe('a reliable provisional response (RFC 3262 §4)', () => {
  it('is confirmed by a PRACK in its dialog, along its Record-Route to its Contact', async () => {
    const { stage, heard } = await call()
    await ring(
      stage,
      reliable(500, { lines: [`Record-Route: <sip:${peerAddress};lr>`, 'Contact: <sip:x@192.0.2.9>'] }),
    )
    const prack = stage.peer.request('PRACK')
    expect([
      prack.uri,
      ...['rack', 'cseq', 'route', 'content-type'].map((name) => headerOf(prack, name)),
    ]).toEqual(['sip:x@192.0.2.9', '500 1 INVITE', '2 PRACK', `<sip:${peerAddress};lr>`, undefined])
    expect(headerOf(prack, 'to')).toContain('tag=peer')
    expect(heard).toEqual(['180 500'])
  })

  it('that the answer follows immediately is confirmed by a PRACK whose CSeq no later request has', async () => {
    const { stage, invite } = await call()
    stage.peer.respond('INVITE', 180, reliable(1))
    stage.peer.respond('INVITE', 200, { body: sdp.content })
    await stage.soon()
    const outcome = await settled(invite.outcome)
    if (outcome.kind !== 'answered') expect.fail()
    void outcome.dialog.bye()
    await stage.soon()
    expect(stage.peer.valuesOf('PRACK', 'cseq')).toEqual(['2 PRACK'])
    expect(stage.peer.valuesOf('BYE', 'cseq')).toEqual(['3 BYE'])
  })

  it('is counted also if the answer comes after the call was given up', async () => {
    const { stage, invite } = await call()
    await ring(stage, reliable(1))
    stage.peer.respond('PRACK', 200)
    invite.cancel()
    await stage.pass(33_000)
    expect((await settled(invite.outcome)).kind).toBe('refused')
    stage.peer.respond('INVITE', 200, { body: sdp.content })
    await stage.soon()
    expect(stage.peer.valuesOf('PRACK', 'cseq')).toEqual(['2 PRACK'])
    expect(stage.peer.valuesOf('BYE', 'cseq')).toEqual(['3 BYE'])
  })

  it('is reported once and in order: a copy, or one that is too early, is neither confirmed nor handed on', async () => {
    const { stage, heard } = await call()
    for (const rseq of [10, 10, 12, 11, 12, 9]) {
      await ring(stage, reliable(rseq))
      if (stage.peer.starts.at(-1) === 'PRACK') stage.peer.respond('PRACK', 200)
      await stage.soon()
    }
    expect(heard).toEqual(['180 10', '180 11', '180 12'])
    expect(stage.peer.valuesOf('PRACK', 'rack')).toEqual(['10 1 INVITE', '11 1 INVITE', '12 1 INVITE'])
  })

  it('of each fork is counted by itself, and one that is not reliable is reported each time', async () => {
    const { stage, heard } = await call()
    await ring(stage, reliable(10, { tag: 'one' }))
    await ring(stage, reliable(90, { tag: 'two' }))
    await ring(stage)
    await ring(stage)
    expect(heard).toEqual(['180 10', '180 90', '180', '180'])
    expect(stage.peer.starts.filter((start) => start === 'PRACK')).toHaveLength(2)
  })

  it('with the offer that the INVITE lacked is answered in the PRACK (RFC 3262 §5)', async () => {
    const offers: string[] = []
    const early = {
      async offered(offer: string) {
        offers.push(offer)
        return { status: 200, body: { type: 'application/sdp', content: 'v=answer\r\n' } }
      },
    }
    const { stage } = await call({ body: undefined, early })
    await ring(stage, reliable(1, { body: sdp.content }), 183)
    expect(Buffer.from(stage.peer.last('PRACK').body).toString()).toBe('v=answer\r\n')
    expect(offers).toEqual([sdp.content])
  })

  it('leaves the call its numbers: the BYE comes after the PRACK, and the CSeq of the far end goes on', async () => {
    const { stage, invite } = await call()
    await ring(stage, reliable(1))
    stage.peer.respond('PRACK', 200)
    stage.peer.send('UPDATE', { cseq: 50 })
    await stage.soon()
    await ring(stage, { body: sdp.content }, 200)
    const outcome = await settled(invite.outcome)
    if (outcome.kind !== 'answered') throw new Error('not answered')
    stage.peer.send('INFO', { cseq: 49 })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('500')
    void outcome.dialog.bye()
    await stage.soon()
    expect(stage.peer.valuesOf('BYE', 'cseq')).toEqual(['3 BYE'])
    expect(stage.peer.valuesOf('ACK', 'cseq')).toEqual(['1 ACK'])
  })
})

describe('a request of the far end before its final response', () => {
  it.each([
    ['OPTIONS', {}, '200'],
    ['UPDATE', {}, '200'],
    // The offer of the INVITE has no answer yet that is certain to have arrived.
    ['UPDATE', { body: sdp.content }, '491'],
    ['INFO', {}, '500'],
    ['INVITE', { body: sdp.content }, '491'],
    ['PRACK', {}, '481'],
    ['NOTIFY', {}, '481'],
    ['INFO', { tag: 'other' }, '481'],
  ])('%s with %j is answered %s', async (method, fields, status) => {
    const { stage } = await call()
    await ring(stage)
    stage.peer.send(method, fields)
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe(status)
  })

  it('an UPDATE with an offer reaches the owner once the first offer has its answer, one at a time (RFC 3311 §5.2)', async () => {
    const held = Promise.withResolvers<{ status: number; body: typeof sdp }>()
    const { stage } = await call({ early: { offered: () => held.promise } })
    await ring(stage, reliable(1, { body: sdp.content }), 183)
    stage.peer.send('UPDATE', { body: 'v=new\r\n' })
    stage.peer.send('UPDATE', { body: 'v=newer\r\n' })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('500')
    held.resolve({ status: 200, body: sdp })
    await stage.soon()
    expect(Buffer.from(stage.peer.last('200').body).toString()).toBe(sdp.content)
  })

  it.each([
    ['without an owner for it', undefined, '488'],
    ['whose owner fails', { offered: () => Promise.reject(new Error('no')) }, '500'],
  ])('an UPDATE with an offer %s is refused', async (_what, early, status) => {
    const { stage } = await call(early === undefined ? {} : { early })
    await ring(stage, reliable(1, { body: sdp.content }), 183)
    stage.peer.send('UPDATE', { body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe(status)
  })

  it('an INFO reaches an owner that takes it, unless it is out of order', async () => {
    const { stage } = await call({ early: { requested: async () => ({ status: 200 }) } })
    await ring(stage)
    stage.peer.send('INFO', { cseq: 7 })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('200')
    stage.peer.send('INFO', { cseq: 6 })
    await stage.soon()
    expect(headerOf(stage.peer.last('500'), 'x-reason-code')).toBe('sip_out_of_order')
  })

  it.each(['INFO', 'REFER'])('%s without an owner for it is refused until the answer', async (method) => {
    const { stage } = await call({}, { serves: { referrals: true } })
    await ring(stage)
    stage.peer.send(method)
    await stage.soon()
    const refusal = stage.peer.last('500')
    expect(headerOf(refusal, 'x-reason-code')).toBe('sip_not_answered')
    expect(headerOf(refusal, 'retry-after')).toMatch(/^\d+$/)
  })

  it('from elsewhere is not taken where the INVITE went to a user, and ends nothing', async () => {
    const notes: string[] = []
    const user = { username: 'bob', realm: 'b.example', isTrusted: () => false }
    const { stage } = await call({ user: { ...user, noted: (sentence) => void notes.push(sentence) } })
    await ring(stage)
    const { headers } = stage.peer.request('INVITE')
    const value = (name: string): string => headers.find((field) => field.name === name)?.value ?? ''
    const text = [
      `BYE sip:agent@192.0.2.1 SIP/2.0`,
      'Via: SIP/2.0/UDP 192.0.2.77:5060;branch=z9hG4bKelse',
      'From: <sip:peer@b.example>;tag=peer',
      `To: ${value('from')}`,
      `Call-ID: ${value('call-id')}`,
      'CSeq: 1 BYE',
      'Content-Length: 0',
      '',
      '',
    ]
    stage.network.deliver(Buffer.from(text.join('\r\n')), { from: '192.0.2.77', to: '192.0.2.1' })
    await stage.soon()
    expect(notes).toHaveLength(1)
    expect(stage.peer.starts).not.toContain('CANCEL')
    stage.peer.send('BYE')
    await stage.soon()
    expect(stage.peer.starts).toContain('CANCEL')
  })

  it('a BYE ends that place, and the last of them the call', async () => {
    const { stage, invite } = await call()
    await ring(stage, { tag: 'one' })
    await ring(stage, { tag: 'two' })
    stage.peer.send('BYE', { tag: 'one' })
    await stage.soon()
    expect(stage.peer.starts.slice(-1)).toEqual(['200'])
    stage.peer.send('BYE', { tag: 'two' })
    await stage.soon()
    expect(stage.peer.starts.slice(-2)).toEqual(['200', 'CANCEL'])
    stage.peer.respond('CANCEL', 200)
    stage.peer.respond('INVITE', 487, { tag: 'two' })
    await stage.soon()
    expect((await settled(invite.outcome)).response.status).toBe(487)
    await stage.pass(64_000)
    expect(stage.isQuiet()).toBe(true)
  })

  it('is in no dialog any more once the INVITE is refused', async () => {
    const { stage } = await call()
    await ring(stage)
    await ring(stage, {}, 486)
    stage.peer.send('UPDATE')
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('481')
    await stage.pass(64_000)
    expect(stage.isQuiet()).toBe(true)
  })

  it('takes room for sixteen tags, and the owner hears of all', async () => {
    const { stage, heard } = await call()
    for (let tag = 1; tag <= 20; tag += 1) await ring(stage, { tag: `t${tag}` })
    expect(heard).toHaveLength(20)
    expect(stage.agent.counters.calls).toBe(16)
  })
})
