// An INVITE of the far end until its final response, seen from both of its sides.
import { describe, expect, it } from 'vitest'
import {
  agentAddress,
  listenerOf,
  openStage,
  peerAddress,
  sdp,
  settled,
  type PeerFields,
  type Stage,
  type StageOptions,
} from '../../../test/support/sip-stage.ts'
import { headerOf, headersOf } from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import type { IncomingInvite } from '../invites.ts'

async function ring(
  fields: PeerFields = {},
  options: StageOptions = {},
): Promise<Stage & { readonly invite: IncomingInvite }> {
  const stage = await openStage(options)
  stage.peer.send('INVITE', { branch: 'z9hG4bKring', body: sdp.content, ...fields })
  await stage.soon()
  const [invite] = stage.invites
  if (invite === undefined) throw new Error('the INVITE did not come')
  return { ...stage, invite }
}

describe('a provisional response', () => {
  it('makes an early dialog: the tag, the routes and the Contact of the answer (RFC 3261 §12.1.1)', async () => {
    const { peer, invite, soon } = await ring({
      lines: [`Record-Route: <sip:${peerAddress};lr>`, 'Record-Route: <sip:192.0.2.8;lr>'],
    })
    invite.progress({ status: 183, headers: [{ name: 'X-Note', value: 'a' }], body: sdp })
    invite.accept({ body: sdp })
    await soon()
    for (const start of ['183', '200']) {
      const response = peer.last(start)
      expect(headersOf(response, 'record-route')).toEqual([`<sip:${peerAddress};lr>`, '<sip:192.0.2.8;lr>'])
      expect(headerOf(response, 'contact')).toBe(`<sip:agent@${agentAddress}:5060>`)
      expect(Buffer.from(response.body).toString()).toBe(sdp.content)
    }
    expect(headerOf(peer.last('183'), 'x-note')).toBe('a')
    expect(tagOf(headerOf(peer.last('183'), 'to'))).toBeDefined()
    expect(headerOf(peer.last('183'), 'to')).toBe(headerOf(peer.last('200'), 'to'))
  })

  it.each([100, 200, 302, 486, 99])('of status %i is none, and is not sent', async (status) => {
    const { peer, invite, soon } = await ring()
    invite.progress({ status })
    await soon()
    expect(peer.starts).toEqual([])
  })

  it.each<[string, (invite: IncomingInvite) => void]>([
    ['accepted', (invite) => void invite.accept({ body: sdp })],
    ['refused', (invite) => invite.reject({ status: 486 })],
  ])('comes no more after the call was %s', async (_how, decide) => {
    const { peer, invite, soon } = await ring()
    decide(invite)
    invite.progress({ status: 180 })
    await soon()
    expect(peer.starts).not.toContain('180')
  })

  it('is repeated every minute, only the last one, until the call is decided (RFC 3261 §13.3.1.1)', async () => {
    const { peer, pass, invite } = await ring()
    invite.progress({ status: 180 })
    await pass(30_000)
    invite.progress({ status: 183, body: sdp })
    await pass(125_000)
    expect(peer.starts).toEqual(['180', '183', '183', '183'])
    invite.reject({ status: 480 })
    await pass(65_000)
    expect(peer.starts.filter((start) => start === '183')).toHaveLength(3)
  })
})

describe('a refusal', () => {
  it.each([100, 183, 200, 299])(
    'of status %i is a fault of the owner, and goes out as 500',
    async (status) => {
      const { peer, invite, soon } = await ring()
      invite.reject({ status })
      await soon()
      expect(peer.starts).toEqual(['500'])
    },
  )

  it('is sent once, says what server it is, and takes no answer back', async () => {
    const { peer, invite, agent, soon } = await ring()
    invite.reject({ status: 486, reason: 'Busy\r\nThere' })
    invite.reject({ status: 603 })
    const dialog = invite.accept({ body: sdp })
    await soon()
    const refusal = peer.last('486')
    expect(peer.starts).toEqual(['486'])
    expect(refusal.kind === 'response' && refusal.reason).toBe('Busy  There')
    expect(headerOf(refusal, 'server')).toBe('test')
    expect((await settled(dialog.request('INFO'))).status).toBe(481)
    expect(agent.counters.calls).toBe(0)
  })
})

describe('a caller that gives up', () => {
  it('is answered 200 to its CANCEL and 487 to its INVITE, and the owner sees the CANCEL (RFC 3261 §9.2)', async () => {
    const { peer, invite, soon } = await ring()
    const seen: (string | undefined)[] = []
    invite.onCancel((cancel) => void seen.push(headerOf(cancel, 'reason')))
    invite.progress({ status: 180 })
    await soon()
    peer.send('CANCEL', { cseq: 1, toTag: '', branch: 'z9hG4bKring', lines: ['Reason: SIP;cause=200'] })
    await soon()
    expect(peer.starts).toEqual(['180', '200', '487'])
    expect(headerOf(peer.last('200'), 'cseq')).toBe('1 CANCEL')
    expect(headerOf(peer.last('200'), 'to')).toBe(headerOf(peer.last('487'), 'to'))
    expect(seen).toEqual(['SIP;cause=200'])
  })

  it('is known to an owner that asks only later', async () => {
    const { peer, invite, soon } = await ring()
    peer.send('CANCEL', { cseq: 1, toTag: '', branch: 'z9hG4bKring' })
    await soon()
    const seen: string[] = []
    invite.onCancel(({ method }) => void seen.push(method))
    expect(seen).toEqual(['CANCEL'])
  })

  it('after the answer is too late: 200 to the CANCEL, and the call stands', async () => {
    const { peer, invite, agent, soon } = await ring()
    const seen: string[] = []
    invite.onCancel(({ method }) => void seen.push(method))
    invite.accept({ body: sdp }).listen(listenerOf(seen))
    await soon()
    peer.send('CANCEL', { cseq: 1, toTag: '', branch: 'z9hG4bKring' })
    await soon()
    expect(peer.starts).toEqual(['200', '200'])
    expect(seen).toEqual([])
    expect(agent.counters.calls).toBe(1)
  })

  it('by BYE within the early dialog gets 200 and 487 (RFC 3261 §15)', async () => {
    const { peer, invite, agent, soon } = await ring()
    const seen: string[] = []
    invite.onCancel(({ method }) => void seen.push(method))
    invite.progress({ status: 180 })
    await soon()
    peer.send('BYE')
    await soon()
    expect(peer.starts).toEqual(['180', '200', '487'])
    expect(seen).toEqual(['BYE'])
    expect(agent.counters.calls).toBe(0)
  })

  it('without a word is given up by the stack: 408 to it, and its INVITE to the owner', async () => {
    const { peer, clock, invite, isQuiet, soon } = await ring()
    const seen: string[] = []
    invite.onCancel(({ method }) => void seen.push(method))
    clock.advance(3_600_000)
    await soon()
    expect(peer.starts.at(-1)).toBe('408')
    peer.send('ACK', { cseq: 1, toTag: '', branch: 'z9hG4bKring' })
    await soon()
    clock.advance(6_000)
    expect(seen).toEqual(['INVITE'])
    expect(isQuiet()).toBe(true)
  })
})

describe('within an early dialog', () => {
  it.each(['UPDATE', 'INVITE'])(
    '%s is answered 500 with a short Retry-After, and changes nothing (RFC 3311 §5.2)',
    async (method) => {
      const { peer, invite, soon } = await ring()
      invite.progress({ status: 180 })
      await soon()
      peer.send(method, { cseq: 2, body: sdp.content })
      await soon()
      const retryAfter = Number(headerOf(peer.last('500'), 'retry-after'))
      expect(retryAfter).toBeGreaterThanOrEqual(0)
      expect(retryAfter).toBeLessThanOrEqual(10)
      invite.accept({ body: sdp })
      await soon()
      expect(headerOf(peer.last('200'), 'cseq')).toBe('1 INVITE')
    },
  )

  it.each([
    ['OPTIONS', '200', undefined],
    ['INFO', '500', 'sip_not_answered'],
    ['REFER', '500', 'sip_not_answered'],
    ['MESSAGE', '405', 'sip_method_not_allowed'],
    ['NOTIFY', '481', 'sip_call_unknown'],
  ])('%s without an owner for it is answered %s, for the reason %s', async (method, status, code) => {
    const { peer, invite, soon } = await ring({}, { serves: { referrals: true, messages: true } })
    invite.progress({ status: 180 })
    await soon()
    peer.send(method, { cseq: 2 })
    await soon()
    expect(peer.starts.at(-1)).toBe(status)
    expect(headerOf(peer.last(status), 'x-reason-code')).toBe(code)
  })

  it('an INFO reaches an owner that takes it, unless an INFO sent later came before it', async () => {
    const { peer, invite, soon } = await ring()
    const keys: string[] = []
    invite.listen({
      requested: async ({ body }) => {
        keys.push(Buffer.from(body).toString())
        return { status: 200 }
      },
    })
    invite.progress({ status: 183, body: sdp })
    await soon()
    for (const [cseq, body] of [
      [2, '1'],
      [4, '2'],
      [3, '3'],
    ] as const) {
      peer.send('INFO', { cseq, body })
      await soon()
    }
    expect(peer.starts).toEqual(['183', '200', '200', '500'])
    expect(headerOf(peer.last('500'), 'x-reason-code')).toBe('sip_out_of_order')
    expect(keys).toEqual(['1', '2'])
    invite.accept({ body: sdp })
    await soon()
    expect(headerOf(peer.last('200'), 'cseq')).toBe('1 INVITE')
  })

  it('an ACK means nothing', async () => {
    const { peer, invite, soon } = await ring()
    invite.progress({ status: 180 })
    await soon()
    peer.send('ACK', { cseq: 1 })
    await soon()
    expect(peer.starts).toEqual(['180'])
    invite.accept({ body: sdp })
    await soon()
    expect(peer.starts).toEqual(['180', '200'])
  })
})

describe('the Contact of an answer', () => {
  it.each([
    ['the user that was called', `sip:4420%23@${agentAddress}`, `<sip:4420%23@${agentAddress}:5060>`],
    ['the number of a tel URI', 'tel:+44-20', `<sip:+44-20@${agentAddress}:5060>`],
    ['no user where none was called', `sip:${agentAddress}`, `<sip:${agentAddress}:5060>`],
    [
      'no user that is longer than a name',
      `sip:${'x'.repeat(129)}@${agentAddress}`,
      `<sip:${agentAddress}:5060>`,
    ],
    [
      'a user as long as a name may be',
      `sip:${'x'.repeat(128)}@${agentAddress}`,
      `<sip:${'x'.repeat(128)}@${agentAddress}:5060>`,
    ],
  ])('names %s', async (_who, uri, contact) => {
    const { peer, invite, soon } = await ring({ uri })
    invite.accept({ body: sdp })
    await soon()
    expect(headerOf(peer.last('200'), 'contact')).toBe(contact)
  })

  it('has the feature that the owner says, in the dialog too; what it says nothing of cannot be required', async () => {
    const lines = ['Require: siprec']
    const stage = await openStage({ serves: { recordings: true } })
    stage.peer.send('INVITE', { lines, body: sdp.content })
    await stage.soon()
    stage.invites[0]?.tagContact('+sip.srs')
    stage.invites[0]?.accept({ body: sdp })
    await stage.soon()
    const answer = stage.peer.last('200')
    expect(headerOf(answer, 'contact')).toBe(`<sip:agent@${agentAddress}:5060>;+sip.srs`)
    expect(headerOf(answer, 'supported')).not.toContain('siprec')
    const without = await openStage()
    without.peer.send('INVITE', { lines, body: sdp.content })
    await without.soon()
    expect(without.peer.starts).toEqual(['420'])
  })

  it('names the transport the INVITE came by', async () => {
    const stage = await openStage({ by: 'tcp' })
    stage.peer.send('INVITE', { body: sdp.content })
    await stage.soon()
    stage.invites[0]?.accept({ body: sdp })
    await stage.soon()
    expect(headerOf(stage.peer.last('200'), 'contact')).toBe(`<sip:agent@${agentAddress}:5060;transport=tcp>`)
  })
})

describe('an invite whose dialog may not go everywhere', () => {
  it.each([
    ['where it came from, when the Contact is there', peerAddress, [peerAddress], 'BYE at the peer'],
    ['an address the rule allows', '192.0.2.9', ['192.0.2.9'], 'BYE elsewhere'],
    ['where it came from in place of an address the rule forbids', '192.0.2.9', [], 'BYE at the peer'],
  ])('sends its requests to %s', async (_where, contactHost, allowed: readonly string[], expected) => {
    const { peer, invite, network, soon } = await ring({ lines: [`Contact: <sip:peer@${contactHost}>`] })
    const elsewhere: string[] = []
    network.attach('192.0.2.9', (message) => {
      if (message.kind === 'request') elsewhere.push(message.method)
    })
    const noted: string[] = []
    invite.restrict(({ address }) => allowed.includes(address))
    const dialog = invite.accept({ body: sdp })
    dialog.listen({ ...listenerOf([]), noted: (sentence) => void noted.push(sentence) })
    await soon()
    peer.send('ACK', { cseq: 1 })
    await soon()
    void dialog.bye()
    await soon()
    const where = elsewhere.includes('BYE') ? 'BYE elsewhere' : 'BYE at the peer'
    expect(where).toBe(expected)
    expect(peer.starts.includes('BYE')).toBe(expected === 'BYE at the peer')
    const isForbidden = contactHost !== peerAddress && allowed.length === 0
    expect(noted).toHaveLength(isForbidden ? 1 : 0)
  })
})

describe('a stack that stops', () => {
  it('ends what rings: the transaction stops, no timer is left, and the owner may still decide', async () => {
    const { agent, invite, clock, soon } = await ring()
    invite.progress({ status: 180 })
    await soon()
    await agent.stop()
    expect(agent.counters.calls).toBe(0)
    expect(clock.pending).toBe(0)
    invite.reject({ status: 486 })
    expect((await settled(invite.accept({}).request('INFO'))).status).toBe(481)
  })
})
