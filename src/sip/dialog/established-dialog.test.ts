// A confirmed dialog as the far end sees it: the test writes every message of the peer, so that no stack corrects any.
import { describe, expect, it } from 'vitest'
import {
  agentAddress,
  callIn,
  callOut,
  listenerOf,
  openStage,
  peerAddress,
  sdp,
  settled,
  type Stage,
} from '../../../test/support/sip-stage.ts'
import { headerOf, headersOf, type SipMessage } from '../message/message.ts'
import type { Reply } from '../message/reply.ts'

const elsewhere = `Contact: <sip:new@${peerAddress}:5060>`
const secret = { username: 'agent', password: 'secret' }
const challenge = 'Digest realm="b.example", nonce="n1", algorithm=MD5, qop="auth"'

const retryAfterOf = (stage: Stage): number => Number(headerOf(stage.peer.last('500'), 'retry-after'))

describe('the sequence of a dialog (RFC 3261 §12.2.1.1)', () => {
  it('rises by one with each request that is sent, and an ACK has the number of its INVITE', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    for (const method of ['INFO', 'INVITE', 'UPDATE', 'INVITE', 'BYE']) {
      const asked = method === 'BYE' ? dialog.bye() : dialog.request(method, { body: sdp })
      await stage.soon()
      stage.peer.respond(method, 200, { body: sdp.content })
      await stage.soon()
      await settled<unknown>(asked)
    }
    const numbers = stage.peer.received.map((message) => headerOf(message, 'cseq'))
    expect(numbers).toEqual([
      '1 INVITE',
      '1 ACK',
      '2 INFO',
      '3 INVITE',
      '3 ACK',
      '4 UPDATE',
      '5 INVITE',
      '5 ACK',
      '6 BYE',
    ])
  })

  it('starts at one where the peer called, whatever the number of its own', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage, { cseq: 900 })
    void dialog.bye()
    await stage.soon()
    expect(headerOf(stage.peer.last('BYE'), 'cseq')).toBe('1 BYE')
  })

  it('of the peer may skip numbers, and must not go back (RFC 3261 §12.2.2)', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage)
    dialog.listen(listenerOf(told))
    for (const cseq of [7, 5, 8]) {
      stage.peer.send('INFO', { cseq })
      await stage.soon()
    }
    expect(stage.peer.starts.slice(-3)).toEqual(['200', '500', '200'])
    expect(told).toEqual(['confirmed', 'INFO', 'INFO'])
  })
})

describe('the remote target (RFC 3261 §12.2)', () => {
  it.each([
    ['INVITE', 200, true],
    ['UPDATE', 200, true],
    ['INFO', 200, false],
    // RFC 3261 §14.2: what is refused has changed nothing.
    ['INVITE', 488, false],
    ['UPDATE', 488, false],
  ])('after an %s of the peer that is answered %i is the new Contact: %s', async (method, status, isNew) => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    const reply = status === 200 ? { status, body: sdp } : { status }
    dialog.listen(listenerOf([], { offered: reply, requested: reply }))
    stage.peer.send(method, { lines: [elsewhere], body: sdp.content })
    await stage.soon()
    if (method === 'INVITE' && status === 200) stage.peer.send('ACK', { cseq: 2 })
    void dialog.bye()
    await stage.soon()
    const target = isNew ? `sip:new@${peerAddress}:5060` : `sip:peer@${peerAddress}`
    expect(stage.peer.request('BYE').uri).toBe(target)
  })

  it.each([
    ['INVITE', 200, true],
    ['UPDATE', 200, true],
    ['INFO', 200, false],
    ['INVITE', 488, false],
  ])('after a sent %s that is answered %i is the new Contact: %s', async (method, status, isNew) => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    const asked = dialog.request(method, { body: sdp })
    await stage.soon()
    stage.peer.respond(method, status, { lines: [elsewhere] })
    await stage.soon()
    expect((await settled(asked)).status).toBe(status)
    void dialog.bye()
    await stage.soon()
    const target = isNew ? `sip:new@${peerAddress}:5060` : `sip:peer@${peerAddress}`
    expect(stage.peer.request('BYE').uri).toBe(target)
  })

  it('is where the ACK of a re-INVITE goes whose answer names a new Contact (RFC 3261 §13.2.2.4)', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    const moved: SipMessage[] = []
    stage.network.attach('192.0.2.3', (message) => void moved.push(message))
    void dialog.request('INVITE', { body: sdp })
    await stage.soon()
    stage.peer.respond('INVITE', 200, { lines: ['Contact: <sip:new@192.0.2.3:5060>'], body: sdp.content })
    await stage.soon()
    expect(moved).toMatchObject([{ kind: 'request', method: 'ACK', uri: 'sip:new@192.0.2.3:5060' }])
  })

  it('stays where it was when the new Contact is none that can be called', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    dialog.listen(listenerOf([]))
    stage.peer.send('UPDATE', { lines: ['Contact: <tel:+4420>'], body: sdp.content })
    await stage.soon()
    void dialog.bye()
    await stage.soon()
    expect(stage.peer.request('BYE').uri).toBe(`sip:peer@${peerAddress}`)
  })
})

describe('the route set (RFC 3261 §12.1)', () => {
  const recorded = [`<sip:${peerAddress};lr;n=1>`, '<sip:192.0.2.8;lr;n=2>']

  it('of a call that came in is the Record-Route in its order, and stays so after an UPDATE', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage, { lines: recorded.map((value) => `Record-Route: ${value}`) })
    dialog.listen(listenerOf([]))
    stage.peer.send('UPDATE', { lines: ['Record-Route: <sip:192.0.2.99;lr>'], body: sdp.content })
    await stage.soon()
    void dialog.bye()
    await stage.soon()
    expect(headersOf(stage.peer.last('BYE'), 'route')).toEqual(recorded)
  })

  it('of a call that we made is the Record-Route of its answer backwards, from its ACK on', async () => {
    const stage = await openStage()
    const dialog = await callOut(
      stage,
      {},
      { lines: [`Record-Route: ${[...recorded].reverse().join(', ')}`] },
    )
    void dialog.bye()
    await stage.soon()
    expect(headersOf(stage.peer.last('ACK'), 'route')).toEqual(recorded)
    expect(headersOf(stage.peer.last('BYE'), 'route')).toEqual(recorded)
    expect(headerOf(stage.peer.last('BYE'), 'max-forwards')).toBe('70')
  })

  it('through a strict router puts the router in the Request-URI, and the target at the end (RFC 3261 §12.2.1.1)', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage, { lines: [`Record-Route: <sip:${peerAddress}>, <sip:192.0.2.8;lr>`] })
    void dialog.bye()
    await stage.soon()
    const bye = stage.peer.request('BYE')
    expect(bye.uri).toBe(`sip:${peerAddress}`)
    expect(headersOf(bye, 'route')).toEqual(['<sip:192.0.2.8;lr>', `<sip:peer@${peerAddress}>`])
  })
})

describe('an offer while another is open', () => {
  it('of the peer itself is answered 500 with a short Retry-After (RFC 3261 §14.2)', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    const answer = Promise.withResolvers<Reply>()
    dialog.listen(listenerOf([], { offered: answer.promise }))
    for (const method of ['INVITE', 'UPDATE', 'INVITE']) stage.peer.send(method, { body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts.slice(1)).toEqual(['500', '500'])
    expect(retryAfterOf(stage)).toBeGreaterThanOrEqual(0)
    expect(retryAfterOf(stage)).toBeLessThanOrEqual(10)
    answer.resolve({ status: 200, body: sdp })
    await stage.soon()
    expect(headerOf(stage.peer.last('200'), 'cseq')).toBe('2 INVITE')
  })

  it.each(['INVITE', 'UPDATE'])(
    'that was sent lets no %s of the peer in, which is answered 491 (RFC 3261 §14.2, RFC 3311 §5.2)',
    async (method) => {
      const stage = await openStage()
      const told: string[] = []
      const dialog = await callIn(stage)
      dialog.listen(listenerOf(told))
      void dialog.request('INVITE', { body: sdp })
      await stage.soon()
      stage.peer.send(method, { body: sdp.content })
      await stage.soon()
      expect(stage.peer.starts.at(-1)).toBe('491')
      expect(told).toEqual(['confirmed'])
    },
  )

  it('of the peer lets no INVITE out: 491 at once, without a word on the wire (RFC 3261 §14.1)', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    dialog.listen(listenerOf([], { offered: new Promise(() => undefined) }))
    stage.peer.send('INVITE', { body: sdp.content })
    await stage.soon()
    expect((await settled(dialog.request('INVITE', { body: sdp }))).status).toBe(491)
    expect(stage.peer.starts).not.toContain('INVITE')
  })

  it('that was sent lets no second one out, and the next one once it is answered', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    const first = dialog.request('INVITE', { body: sdp })
    await stage.soon()
    expect((await settled(dialog.request('INVITE', { body: sdp }))).status).toBe(491)
    stage.peer.respond('INVITE', 488)
    await stage.soon()
    expect((await settled(first)).status).toBe(488)
    void dialog.request('INVITE', { body: sdp })
    await stage.soon()
    expect(stage.peer.valuesOf('INVITE', 'cseq')).toEqual(['1 INVITE', '2 INVITE', '3 INVITE'])
  })

  it('in our 2xx is open until the ACK brings the answer: an offer of the peer gets 491', async () => {
    const stage = await openStage()
    stage.peer.send('INVITE', { cseq: 1 })
    await stage.soon()
    const told: string[] = []
    stage.invites[0]?.accept({ body: sdp }).listen(listenerOf(told))
    await stage.soon()
    stage.peer.send('UPDATE', { cseq: 2, body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('491')
    stage.peer.send('ACK', { cseq: 1, body: sdp.content })
    stage.peer.send('UPDATE', { cseq: 3, body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('200')
    expect(told).toEqual(['confirmed with SDP', 'UPDATE with offer'])
  })

  it('in our 2xx is open as well if the INVITE has a body, but no description', async () => {
    const stage = await openStage()
    const isup = ['Content-Type: application/ISUP', 'Content-Disposition: signal;handling=optional']
    stage.peer.send('INVITE', { cseq: 1, content: 'x', lines: isup })
    await stage.soon()
    stage.invites[0]?.accept({ body: sdp }).listen(listenerOf([]))
    await stage.soon()
    stage.peer.send('UPDATE', { cseq: 2, body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('491')
  })

  it('in the 2xx to a re-INVITE without one is open until its ACK, too', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage)
    dialog.listen(listenerOf(told))
    stage.peer.send('INVITE', { cseq: 2 })
    await stage.soon()
    stage.peer.send('UPDATE', { cseq: 3, body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('491')
    stage.peer.send('ACK', { cseq: 2, body: sdp.content })
    stage.peer.send('UPDATE', { cseq: 4, body: sdp.content })
    await stage.soon()
    expect(told).toEqual(['confirmed', 'INVITE without offer', 'confirmed with SDP', 'UPDATE with offer'])
  })

  it('in an UPDATE that was sent is one as well: the peer gets 491, and no second one goes out (RFC 3311 §5)', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callOut(stage)
    dialog.listen(listenerOf(told))
    const first = dialog.request('UPDATE', { body: sdp })
    await stage.soon()
    for (const method of ['INVITE', 'UPDATE'])
      expect((await settled(dialog.request(method, { body: sdp }))).status).toBe(491)
    stage.peer.send('UPDATE', { body: sdp.content })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('491')
    stage.peer.respond('UPDATE', 200, { body: sdp.content })
    await stage.soon()
    expect((await settled(first)).status).toBe(200)
    stage.peer.send('UPDATE', { body: sdp.content })
    await stage.soon()
    expect(told).toEqual(['UPDATE with offer'])
  })

  it('waits for the ACK to our 2xx: until then a new INVITE is 491 (RFC 3261 §14.1)', async () => {
    const stage = await openStage()
    stage.peer.send('INVITE', { cseq: 1, body: sdp.content })
    await stage.soon()
    const dialog = stage.invites[0]!.accept({ body: sdp })
    dialog.listen(listenerOf([]))
    await stage.soon()
    expect((await settled(dialog.request('INVITE', { body: sdp }))).status).toBe(491)
    stage.peer.send('ACK', { cseq: 1 })
    await stage.soon()
    void dialog.request('INVITE', { body: sdp })
    await stage.soon()
    expect(stage.peer.starts).toEqual(['200', 'INVITE'])
  })

  it('that only refreshes is none: an UPDATE without SDP goes out at any time', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    void dialog.request('INVITE', { body: sdp })
    void dialog.request('UPDATE')
    await stage.soon()
    expect(stage.peer.starts).toEqual(['INVITE', 'ACK', 'INVITE', 'UPDATE'])
  })

  it('lets an UPDATE of the peer through that has none, unless another UPDATE waits (RFC 3311 §5.2)', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    dialog.listen(listenerOf([], { offered: new Promise(() => undefined) }))
    stage.peer.send('INVITE', { cseq: 2, body: sdp.content, branch: 'z9hG4bKopen' })
    stage.peer.send('UPDATE', { cseq: 3 })
    await stage.soon()
    expect(headerOf(stage.peer.last('200'), 'cseq')).toBe('3 UPDATE')
    stage.peer.send('CANCEL', { cseq: 2, branch: 'z9hG4bKopen' })
    await stage.soon()
    stage.peer.send('UPDATE', { cseq: 4, body: sdp.content })
    stage.peer.send('UPDATE', { cseq: 5 })
    await stage.soon()
    expect(headerOf(stage.peer.last('500'), 'cseq')).toBe('5 UPDATE')
    expect(retryAfterOf(stage)).toBeLessThanOrEqual(10)
  })

  it('an UPDATE without an offer is no offer: it is answered 200 where the INVITE had its answer', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    const told: string[] = []
    dialog.listen(listenerOf(told))
    stage.peer.send('UPDATE')
    await stage.soon()
    expect(stage.peer.last('200').body.byteLength).toBe(0)
    expect(headerOf(stage.peer.last('200'), 'contact')).toBe(`<sip:agent@${agentAddress}:5060>`)
    expect(told).toEqual(['confirmed'])
  })
})

describe('a re-INVITE', () => {
  it('without an offer is answered with a fresh one, and the ACK that answers it is handed on', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage)
    dialog.listen(listenerOf(told))
    stage.peer.send('INVITE', { cseq: 2 })
    await stage.soon()
    expect(Buffer.from(stage.peer.last('200').body).toString()).toBe(sdp.content)
    stage.peer.send('ACK', { cseq: 2, body: sdp.content })
    await stage.soon()
    expect(told).toEqual(['confirmed', 'INVITE without offer', 'confirmed with SDP'])
  })

  it('with an offer ends with an ACK that says nothing new, so nothing is said of it', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage)
    dialog.listen(listenerOf(told))
    stage.peer.send('INVITE', { cseq: 2, body: sdp.content })
    await stage.soon()
    stage.peer.send('ACK', { cseq: 2 })
    stage.peer.send('ACK', { cseq: 2 })
    stage.peer.send('ACK', { cseq: 1 })
    await stage.soon()
    expect(told).toEqual(['confirmed', 'INVITE with offer'])
  })

  it('that is cancelled gets 487, its late answer goes nowhere, and the call goes on (RFC 3261 §9.2)', async () => {
    const stage = await openStage()
    const answer = Promise.withResolvers<Reply>()
    const dialog = await callIn(stage)
    dialog.listen(listenerOf([], { offered: answer.promise }))
    stage.peer.send('INVITE', { cseq: 2, body: sdp.content, branch: 'z9hG4bKagain' })
    await stage.soon()
    stage.peer.send('CANCEL', { cseq: 2, branch: 'z9hG4bKagain' })
    await stage.soon()
    expect(stage.peer.starts.slice(-2)).toEqual(['200', '487'])
    const count = stage.peer.received.length
    answer.resolve({ status: 200, body: sdp })
    await stage.soon()
    expect(stage.peer.received).toHaveLength(count)
    stage.peer.send('INFO', { cseq: 3 })
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('200')
  })

  it('that its owner refuses is answered so, without what only the stack may write', async () => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    const headers = [
      { name: 'Warning', value: '305 a "Incompatible\r\nmedia format"' },
      { name: 'Call-ID', value: 'other' },
    ]
    dialog.listen(listenerOf([], { offered: { status: 488, headers } }))
    stage.peer.send('INVITE', { body: sdp.content })
    await stage.soon()
    const refusal = stage.peer.last('488')
    expect(headerOf(refusal, 'warning')).toBe('305 a "Incompatible  media format"')
    expect(headersOf(refusal, 'call-id')).toEqual(['call-of-the-peer'])
  })

  it('whose ACK never comes ends the call with BYE, and says why', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage)
    dialog.listen(listenerOf(told))
    stage.peer.send('INVITE', { cseq: 2, body: sdp.content })
    await stage.pass(33_000)
    expect(told).toEqual(['confirmed', 'INVITE with offer', 'ack-timeout'])
    expect(stage.peer.starts).toContain('BYE')
  })

  it('is refused while four have a 2xx without ACK, each of which is sent again and again', async () => {
    const stage = await openStage()
    await callIn(stage).then((dialog) => dialog.listen(listenerOf([])))
    const invite = async (cseq: number): Promise<void> => {
      stage.peer.send('INVITE', { cseq, body: sdp.content })
      await stage.soon()
    }
    for (const cseq of [2, 3, 4, 5]) await invite(cseq)
    expect(stage.peer.starts).not.toContain('500')
    await invite(6)
    expect(stage.peer.starts.at(-1)).toBe('500')
    expect(retryAfterOf(stage)).toBeLessThanOrEqual(10)
    stage.peer.send('ACK', { cseq: 3 })
    await invite(7)
    expect(headerOf(stage.peer.last('200'), 'cseq')).toBe('7 INVITE')
  })
})

describe('other requests of the peer', () => {
  it('OPTIONS is answered by the stack alone, with what the dialog takes (RFC 3261 §11.2)', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage)
    dialog.listen(listenerOf(told))
    stage.peer.send('OPTIONS')
    await stage.soon()
    const reply = stage.peer.last('200')
    expect(headerOf(reply, 'accept')).toBe('application/sdp')
    expect(headerOf(reply, 'allow')).toContain('UPDATE')
    expect(headerOf(reply, 'contact')).toBe(`<sip:agent@${agentAddress}:5060>`)
    expect(told).toEqual(['confirmed'])
  })

  it('wait for a listener that comes late, and miss nothing', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage)
    stage.peer.send('INFO')
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('200')
    expect(headerOf(stage.peer.last('200'), 'cseq')).toBe('1 INVITE')
    dialog.listen(listenerOf(told))
    await stage.soon()
    expect(headerOf(stage.peer.last('200'), 'cseq')).toBe('2 INFO')
    expect(told).toEqual(['confirmed', 'INFO'])
  })

  it('are refused 481 once our BYE is under way, and the BYE of the peer is answered 200', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callIn(stage)
    dialog.listen(listenerOf(told))
    void dialog.bye()
    await stage.soon()
    stage.peer.send('INFO')
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('481')
    stage.peer.send('BYE')
    await stage.soon()
    expect(stage.peer.starts.at(-1)).toBe('200')
    expect(told).toEqual(['confirmed'])
  })

  it.each([
    ['offers', 'INVITE', 500],
    ['requests', 'INFO', 500],
  ])(
    'are answered 500 when a listener fails over %s, and the call goes on',
    async (_what, method, status) => {
      const stage = await openStage()
      const dialog = await callIn(stage)
      const fault = Promise.reject(new Error('a fault of the owner'))
      fault.catch(() => undefined)
      dialog.listen(listenerOf([], { offered: fault, requested: fault }))
      stage.peer.send(method, { body: sdp.content })
      await stage.soon()
      expect(stage.peer.starts.at(-1)).toBe(String(status))
      expect(stage.agent.counters.calls).toBe(1)
    },
  )

  it('a listener that throws over the end of a call ends nothing else', async () => {
    const stage = await openStage()
    const faults: string[] = []
    const dialog = await callIn(stage)
    dialog.listen({
      ...listenerOf([]),
      ended: () => {
        faults.push('thrown')
        throw new Error('a fault of the owner')
      },
    })
    stage.peer.send('BYE')
    await stage.soon()
    expect(faults).toEqual(['thrown'])
    expect(stage.peer.starts.at(-1)).toBe('200')
    expect(stage.agent.counters.calls).toBe(0)
  })
})

describe('a request that is sent', () => {
  it.each([
    [481, true],
    [408, true],
    [404, false],
    [486, false],
    [500, false],
    [503, false],
  ])('that is answered %i ends the call: %s (RFC 3261 §12.2.1.2)', async (status, ends) => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callOut(stage)
    dialog.listen(listenerOf(told))
    const asked = dialog.request('INFO')
    await stage.soon()
    stage.peer.respond('INFO', status)
    await stage.soon()
    expect((await settled(asked)).status).toBe(status)
    expect(told).toEqual(ends ? ['transport-error'] : [])
    expect(stage.peer.starts.includes('BYE')).toBe(ends)
  })

  it('after the end of the call is answered 481 here, and nothing is sent', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    dialog.listen(listenerOf([]))
    stage.peer.send('BYE')
    await stage.soon()
    const count = stage.network.sent.length
    const response = await settled(dialog.request('INFO'))
    expect([response.status, headerOf(response, 'call-id')]).toEqual([481, dialog.callId])
    await settled(dialog.bye())
    expect(stage.network.sent).toHaveLength(count)
  })

  it('that is challenged is sent again with credentials and a higher CSeq (RFC 3261 §22.2)', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage, { credentials: secret })
    void dialog.bye([{ name: 'Reason', value: 'Q.850;cause=16' }])
    await stage.soon()
    stage.peer.respond('BYE', 401, { lines: [`WWW-Authenticate: ${challenge}`] })
    await stage.soon()
    const bye = stage.peer.request('BYE')
    expect(stage.peer.valuesOf('BYE', 'cseq')).toEqual(['2 BYE', '3 BYE'])
    expect(headerOf(bye, 'authorization')).toContain('username="agent"')
    expect(headerOf(bye, 'reason')).toBe('Q.850;cause=16')
  })

  it('that is challenged stays unanswered where there are no credentials', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    const asked = dialog.request('INFO')
    await stage.soon()
    stage.peer.respond('INFO', 401, { lines: [`WWW-Authenticate: ${challenge}`] })
    await stage.soon()
    expect((await settled(asked)).status).toBe(401)
    expect(stage.peer.valuesOf('INFO', 'cseq')).toEqual(['2 INFO'])
  })

  it('is not over at a provisional response', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    const asked = dialog.request('INFO')
    await stage.soon()
    stage.peer.respond('INFO', 183)
    await stage.soon()
    await expect(settled(asked)).rejects.toThrow('nothing has come yet')
    stage.peer.respond('INFO', 200)
    await stage.soon()
    expect((await settled(asked)).status).toBe(200)
  })

  it('carries what its owner sets, and nothing that only the stack may write', async () => {
    const stage = await openStage()
    const dialog = await callOut(stage)
    void dialog.request('INFO', {
      headers: [
        { name: 'Info-Package', value: 'dtmf' },
        { name: 'User-Agent', value: 'mine' },
        { name: 'Via', value: 'SIP/2.0/UDP evil' },
        { name: 'Route', value: '<sip:evil;lr>' },
      ],
      body: { type: 'application/dtmf-relay', content: 'Signal=1\r\n' },
    })
    await stage.soon()
    const info = stage.peer.request('INFO')
    expect(headerOf(info, 'info-package')).toBe('dtmf')
    expect(headersOf(info, 'user-agent')).toEqual(['mine'])
    expect([headersOf(info, 'via').length, headersOf(info, 'route').length]).toEqual([1, 0])
    expect(headerOf(info, 'content-type')).toBe('application/dtmf-relay')
  })
})

describe('hanging up while the peer has a re-INVITE open', () => {
  it.each(['the peer', 'the owner'])('by %s answers the INVITE 487 (RFC 3261 §15.1.2)', async (who) => {
    const stage = await openStage()
    const dialog = await callIn(stage)
    dialog.listen(listenerOf([], { offered: new Promise(() => undefined) }))
    stage.peer.send('INVITE', { cseq: 2, body: sdp.content })
    await stage.soon()
    if (who === 'the peer') stage.peer.send('BYE', { cseq: 3 })
    else void dialog.bye()
    await stage.soon()
    expect(stage.peer.starts.slice(1).toSorted()).toEqual(
      who === 'the peer' ? ['200', '487'] : ['487', 'BYE'],
    )
  })
})

describe('a BYE of the peer that overtakes its ACK', () => {
  it('ends the call: ours that waited for the ACK is not sent, and the 200 is not repeated', async () => {
    const stage = await openStage()
    stage.peer.send('INVITE', { cseq: 1, body: sdp.content })
    await stage.soon()
    const dialog = stage.invites[0]?.accept({ body: sdp })
    const bye = dialog?.bye()
    await stage.soon()
    stage.peer.send('BYE', { cseq: 2 })
    await stage.soon()
    await settled(Promise.resolve(bye))
    const count = stage.peer.received.length
    await stage.pass(40_000)
    expect(stage.peer.received).toHaveLength(count)
    expect(stage.peer.starts).not.toContain('BYE')
    expect(stage.isQuiet()).toBe(true)
  })
})
