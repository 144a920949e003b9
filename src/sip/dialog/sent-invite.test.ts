// An INVITE of the platform as the far end sees it, from the first copy to the last late answer.
import { describe, expect, it } from 'vitest'
import {
  agentAddress,
  callOut,
  listenerOf,
  openStage,
  outgoing,
  peerAddress,
  sdp,
  settled,
} from '../../../test/support/sip-stage.ts'
import { AppError } from '../../lib/errors.ts'
import { headerOf, headersOf } from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import type { OutgoingInviteOptions } from '../invites.ts'
import type { Remote } from '../transport/transports.ts'

const credentials = { username: 'agent', password: 'secret' }
const challenge = (nonce: string, more = ''): string =>
  `Digest realm="b.example", nonce="${nonce}", algorithm=MD5, qop="auth"${more}`
const asked = (nonce: string, more?: string): string => `WWW-Authenticate: ${challenge(nonce, more)}`
const askedByProxy = (nonce: string): string => `Proxy-Authenticate: ${challenge(nonce)}`

describe('an INVITE', () => {
  it('says who calls, how to come back and what is understood (RFC 3261 §8.1.1, §13.2.1)', async () => {
    const stage = await openStage()
    stage.agent.invite({ ...outgoing, contactUser: 'me' })
    await stage.soon()
    const invite = stage.peer.request('INVITE')
    expect(invite.uri).toBe(`sip:peer@${peerAddress}`)
    const said = ['to', 'max-forwards', 'contact', 'supported', 'user-agent', 'content-type', 'cseq']
    expect(said.map((name) => headerOf(invite, name))).toEqual([
      '<sip:peer@b.example>',
      '70',
      `<sip:me@${agentAddress}:5060>`,
      'path, timer, 100rel',
      'test',
      'application/sdp',
      '1 INVITE',
    ])
    expect(headerOf(invite, 'via')).toMatch(/^SIP\/2\.0\/UDP 192\.0\.2\.1:5060;branch=z9hG4bK\w+;rport$/)
    expect(headerOf(invite, 'server')).toBeUndefined()
    expect(tagOf(headerOf(invite, 'to'))).toBeUndefined()
  })

  it('may be passed on as often as its owner says (RFC 3261 §20.22)', async () => {
    const stage = await openStage()
    stage.agent.invite({ ...outgoing, maxForwards: 4 })
    await stage.soon()
    expect(headerOf(stage.peer.request('INVITE'), 'max-forwards')).toBe('4')
  })

  it.each([
    [302, [{ uri: 'sip:new@c.example', q: 1 }]],
    [404, undefined],
  ])('that is answered %i is refused, with where else to call: %j', async (status, redirects) => {
    const stage = await openStage()
    const { outcome } = stage.agent.invite(outgoing)
    await stage.soon()
    stage.peer.respond('INVITE', status, { lines: ['Contact: <sip:new@c.example>'] })
    await stage.soon()
    const result = await settled(outcome)
    expect([result.kind, 'redirects' in result ? result.redirects : undefined]).toEqual([
      'refused',
      redirects,
    ])
  })

  it('has a Call-ID, a tag and a branch that no other has', async () => {
    const stage = await openStage()
    for (let count = 0; count < 20; count += 1) stage.agent.invite(outgoing)
    await stage.soon()
    for (const name of ['call-id', 'from', 'via'])
      expect(new Set(stage.peer.valuesOf('INVITE', name)).size).toBe(20)
  })

  it('takes headers of its owner in place of the stack’s, and none that route or frame it', async () => {
    const stage = await openStage()
    const headers = [
      { name: 'P-Asserted-Identity', value: '<sip:+4420@a.example>' },
      { name: 'Contact', value: '<sip:own@a.example>' },
      { name: 'Record-Route', value: '<sip:evil;lr>' },
      { name: 'CSeq', value: '9 INVITE' },
      { name: 'X-Note', value: 'one\r\nRoute: <sip:evil;lr>' },
    ]
    stage.agent.invite({ ...outgoing, headers })
    await stage.soon()
    const invite = stage.peer.request('INVITE')
    expect(headersOf(invite, 'contact')).toEqual(['<sip:own@a.example>'])
    expect(headersOf(invite, 'cseq')).toEqual(['1 INVITE'])
    expect(headerOf(invite, 'x-note')).toBe('one  Route: <sip:evil;lr>')
    expect([...headersOf(invite, 'route'), ...headersOf(invite, 'record-route')]).toEqual([])
    expect(headerOf(invite, 'p-asserted-identity')).toBe('<sip:+4420@a.example>')
  })

  it.each<[string, Partial<OutgoingInviteOptions>]>([
    ['from', { from: 'agent' }],
    ['to', { to: '<sip:peer@b.example' }],
    ['routes', { routes: ['nowhere'] }],
  ])('is not made when its %s is no address', async (_name, wrong) => {
    const stage = await openStage()
    expect(() => stage.agent.invite({ ...outgoing, ...wrong })).toThrow(AppError)
    await stage.soon()
    expect(stage.network.sent).toEqual([])
  })

  it('through a strict router has the router for its Request-URI (RFC 3261 §12.2.1.1)', async () => {
    const stage = await openStage()
    const routes = [`<sip:${peerAddress}>`, '<sip:192.0.2.8;lr>']
    stage.agent.invite({ ...outgoing, uri: 'sip:peer@b.example', routes })
    await stage.soon()
    const invite = stage.peer.request('INVITE')
    expect(invite.uri).toBe(`sip:${peerAddress}`)
    expect(headersOf(invite, 'route')).toEqual(['<sip:192.0.2.8;lr>', '<sip:peer@b.example>'])
  })

  it('is over with 503, unsent, when there are as many transactions as may be', async () => {
    const stage = await openStage()
    await stage.agent.stop()
    const invite = stage.agent.invite(outgoing)
    await stage.soon()
    expect((await settled(invite.outcome)).response.status).toBe(503)
    expect(invite.wasSent).toBe(false)
    expect(stage.network.sent).toEqual([])
  })
})

describe('a refusal', () => {
  it.each([300, 302, 380, 404, 480, 486, 500, 503, 600, 603, 699])(
    'with %i is the outcome, and each copy of it is acknowledged (RFC 3261 §17.1.1.3)',
    async (status) => {
      const stage = await openStage()
      const { outcome } = stage.agent.invite(outgoing)
      await stage.soon()
      stage.peer.respond('INVITE', 180)
      for (let copy = 0; copy < 2; copy += 1) stage.peer.respond('INVITE', status)
      await stage.soon()
      const { kind, response } = await settled(outcome)
      expect([kind, response.status]).toEqual(['refused', status])
      expect(stage.peer.starts).toEqual(['INVITE', 'ACK', 'ACK'])
      const [invite, ack] = [stage.peer.request('INVITE'), stage.peer.request('ACK')]
      expect(headerOf(ack, 'via')).toBe(headerOf(invite, 'via'))
      expect(headerOf(ack, 'to')).toBe('<sip:peer@b.example>;tag=peer')
      expect(ack.uri).toBe(invite.uri)
    },
  )

  it('leaves nothing behind once its copies cannot come any more', async () => {
    const stage = await openStage()
    stage.agent.invite(outgoing)
    await stage.soon()
    stage.peer.respond('INVITE', 486)
    await stage.pass(33_000)
    expect(stage.isQuiet()).toBe(true)
  })
})

describe('provisional responses', () => {
  it('of every fork are reported as they come, and none after the outcome', async () => {
    const stage = await openStage()
    const seen: string[] = []
    const { outcome } = stage.agent.invite({
      ...outgoing,
      onProvisional: (response) => void seen.push(`${response.status} ${tagOf(headerOf(response, 'to'))}`),
    })
    await stage.soon()
    stage.peer.respond('INVITE', 100, { tag: '' })
    stage.peer.respond('INVITE', 180, { tag: 'one' })
    stage.peer.respond('INVITE', 183, { tag: 'two', body: sdp.content })
    stage.peer.respond('INVITE', 199, { tag: 'two' })
    await stage.soon()
    stage.peer.respond('INVITE', 200, { tag: 'one' })
    await stage.soon()
    stage.peer.respond('INVITE', 180, { tag: 'two' })
    await stage.soon()
    expect((await settled(outcome)).kind).toBe('answered')
    expect(seen).toEqual(['180 one', '183 two', '199 two'])
  })
})

describe('an answer', () => {
  it('is acknowledged at its Contact, in a transaction of its own (RFC 3261 §13.2.2.4)', async () => {
    const stage = await openStage()
    await callOut(stage, {}, { lines: [`Contact: <sip:there@${peerAddress}:5060>`] })
    const [invite, ack] = [stage.peer.request('INVITE'), stage.peer.request('ACK')]
    expect(ack.uri).toBe(`sip:there@${peerAddress}:5060`)
    expect(headerOf(ack, 'via')).not.toBe(headerOf(invite, 'via'))
    expect(headerOf(ack, 'from')).toBe(headerOf(invite, 'from'))
    expect(ack.body.byteLength).toBe(0)
  })

  it('without a tag makes no call with a peer that is not trusted: its requests would begin other dialogs', async () => {
    const stage = await openStage()
    const { outcome } = stage.agent.invite({ ...outgoing, mayReach: () => true })
    await stage.soon()
    stage.peer.respond('INVITE', 200, { tag: '', body: sdp.content })
    await stage.soon()
    expect((await settled(outcome)).response.status).toBe(502)
    expect(stage.peer.starts).toEqual(['INVITE'])
  })

  it.each([
    ['of one whose word is not checked', {}],
    ['of a carrier', { mayReach: () => true, takesUntagged: true }],
  ])('without a tag or a Contact, as peers of RFC 2543 send it, makes a call %s', async (_whose, options) => {
    const stage = await openStage()
    const dialog = await callOut(stage, options, { tag: '', lines: ['Contact: *'] })
    expect(dialog.remoteTag).toBe('')
    void dialog.bye()
    await stage.soon()
    const bye = stage.peer.request('BYE')
    expect([bye.uri, headerOf(bye, 'to')]).toEqual([`sip:peer@${peerAddress}`, '<sip:peer@b.example>'])
    stage.peer.respond('BYE', 200, { tag: '' })
    await stage.soon()
    expect(stage.agent.counters.calls).toBe(0)
  })

  it('of a far end that sends many, each with another tag, makes sixteen dialogs at most', async () => {
    const stage = await openStage()
    const { outcome } = stage.agent.invite(outgoing)
    await stage.soon()
    for (let fork = 0; fork < 40; fork += 1)
      stage.peer.respond('INVITE', 200, { tag: `fork${fork}`, body: sdp.content })
    await stage.soon()
    expect((await settled(outcome)).kind).toBe('answered')
    expect(stage.peer.starts.filter((start) => start === 'BYE')).toHaveLength(15)
    expect(stage.agent.counters.calls).toBe(16)
  })

  it('that comes to an INVITE given up is acknowledged and its call ended', async () => {
    const stage = await openStage()
    const { outcome } = stage.agent.invite(outgoing)
    await stage.pass(33_000)
    expect((await settled(outcome)).response.status).toBe(408)
    // Its transaction is over; the tag in From says whose answer it is.
    stage.peer.respond('INVITE', 200)
    await stage.soon()
    expect(stage.peer.starts.slice(-2)).toEqual(['ACK', 'BYE'])
    stage.peer.respond('BYE', 200)
    await stage.pass(33_000)
    expect(stage.isQuiet()).toBe(true)
  })

  it.each<[string, Partial<Record<'call-id' | 'from' | 'cseq', string>>, number]>([
    ['of another Call-ID', { 'call-id': 'other' }, 200],
    ['with a tag that no INVITE has', { from: '<sip:agent@a.example>;tag=other' }, 200],
    ['to no INVITE', { cseq: '1 OPTIONS' }, 200],
    ['that refuses', {}, 486],
    ['that is provisional', {}, 183],
  ])('that belongs to no transaction and is one %s is dropped', async (_what, changed, status) => {
    const stage = await openStage()
    stage.agent.invite(outgoing)
    await stage.pass(33_000)
    const invite = stage.peer.request('INVITE')
    const headers = invite.headers.map(({ name, value }) => ({
      name,
      value: (changed as Record<string, string | undefined>)[name] ?? value,
    }))
    const count = stage.peer.received.length
    stage.peer.respond({ ...invite, headers }, status)
    await stage.soon()
    expect(stage.peer.received).toHaveLength(count)
    expect(stage.agent.counters.calls).toBe(0)
  })

  it('that comes 64*T1 after the outcome belongs to no call any more, and is dropped', async () => {
    const stage = await openStage()
    stage.agent.invite(outgoing)
    await stage.soon()
    stage.peer.respond('INVITE', 486)
    await stage.pass(33_000)
    const count = stage.peer.received.length
    stage.peer.respond('INVITE', 200)
    await stage.soon()
    expect(stage.peer.received).toHaveLength(count)
  })
})

describe('a challenge (RFC 3261 §22.2, §22.3)', () => {
  it('is answered in the same call, with a higher CSeq and a new branch', async () => {
    const stage = await openStage()
    stage.agent.invite({ ...outgoing, credentials })
    await stage.soon()
    stage.peer.respond('INVITE', 401, { lines: [asked('n1')] })
    await stage.soon()
    expect(stage.peer.starts).toEqual(['INVITE', 'ACK', 'INVITE'])
    expect(stage.peer.valuesOf('INVITE', 'cseq')).toEqual(['1 INVITE', '2 INVITE'])
    for (const name of ['call-id', 'from', 'to'])
      expect(new Set(stage.peer.valuesOf('INVITE', name)).size).toBe(1)
    expect(new Set(stage.peer.valuesOf('INVITE', 'via')).size).toBe(2)
    const answer = headerOf(stage.peer.last('INVITE'), 'authorization') ?? ''
    for (const part of ['realm="b.example"', 'nonce="n1"', `uri="sip:peer@${peerAddress}"`, 'qop=auth'])
      expect(answer).toContain(part)
  })

  it('of the far end and of a proxy on the way are both answered, and both stand in the ACK (RFC 3261 §13.2.2.4)', async () => {
    const stage = await openStage()
    const { outcome } = stage.agent.invite({ ...outgoing, credentials })
    await stage.soon()
    stage.peer.respond('INVITE', 407, { lines: [askedByProxy('p1')] })
    await stage.soon()
    stage.peer.respond('INVITE', 401, { lines: [asked('n1')] })
    await stage.soon()
    stage.peer.respond('INVITE', 200)
    await stage.soon()
    expect((await settled(outcome)).kind).toBe('answered')
    const ack = stage.peer.request('ACK')
    expect(headerOf(ack, 'cseq')).toBe('3 ACK')
    expect(headerOf(ack, 'proxy-authorization')).toContain('nonce="p1"')
    expect(headerOf(ack, 'authorization')).toContain('nonce="n1"')
  })

  it('again after an answer ends the call, unless the nonce had only gone stale (RFC 7616 §3.3)', async () => {
    const stage = await openStage()
    const { outcome } = stage.agent.invite({ ...outgoing, credentials })
    await stage.soon()
    stage.peer.respond('INVITE', 401, { lines: [asked('n1')] })
    await stage.soon()
    stage.peer.respond('INVITE', 401, { lines: [asked('n2', ', stale=TRUE')] })
    await stage.soon()
    expect(headerOf(stage.peer.last('INVITE'), 'authorization')).toContain('nonce="n2"')
    stage.peer.respond('INVITE', 401, { lines: [asked('n3')] })
    await stage.soon()
    expect((await settled(outcome)).response.status).toBe(401)
    expect(stage.peer.valuesOf('INVITE', 'cseq')).toHaveLength(3)
  })

  it('that never ends is given up after three answers', async () => {
    const stage = await openStage()
    const { outcome } = stage.agent.invite({ ...outgoing, credentials })
    await stage.soon()
    for (let count = 1; count <= 4; count += 1) {
      stage.peer.respond('INVITE', 401, { lines: [asked(`n${count}`, ', stale=true')] })
      await stage.soon()
    }
    expect((await settled(outcome)).response.status).toBe(401)
    expect(stage.peer.valuesOf('INVITE', 'cseq')).toHaveLength(4)
  })

  it.each([
    ['there are no credentials', undefined, asked('n1')],
    ['it is not digest', credentials, 'WWW-Authenticate: Basic realm="b.example"'],
    [
      'its algorithm is not known',
      credentials,
      'WWW-Authenticate: Digest realm="r", nonce="n", algorithm=MD4',
    ],
    ['a 401 brings the challenge of a proxy', credentials, askedByProxy('p1')],
  ])('is the outcome when %s', async (_why, known, line) => {
    const stage = await openStage()
    const { outcome } = stage.agent.invite({ ...outgoing, ...(known && { credentials: known }) })
    await stage.soon()
    stage.peer.respond('INVITE', 401, { lines: [line] })
    await stage.soon()
    expect((await settled(outcome)).response.status).toBe(401)
    expect(stage.peer.starts).toEqual(['INVITE', 'ACK'])
  })

  it('is not answered once the call was cancelled', async () => {
    const stage = await openStage()
    const invite = stage.agent.invite({ ...outgoing, credentials })
    await stage.soon()
    stage.peer.respond('INVITE', 100, { tag: '' })
    await stage.soon()
    invite.cancel()
    stage.peer.respond('INVITE', 401, { lines: [asked('n1')] })
    await stage.soon()
    expect((await settled(invite.outcome)).response.status).toBe(487)
    expect(stage.peer.starts).toEqual(['INVITE', 'CANCEL', 'ACK'])
  })
})

describe('CANCEL (RFC 3261 §9.1)', () => {
  it('has the Request-URI, branch, Route, From, To and number of its INVITE, and the reasons given', async () => {
    const stage = await openStage()
    const routes = [`<sip:${peerAddress};lr>`]
    const invite = stage.agent.invite({ ...outgoing, routes })
    await stage.soon()
    stage.peer.respond('INVITE', 180)
    await stage.soon()
    invite.cancel([
      { name: 'Reason', value: 'SIP;cause=200' },
      { name: 'Via', value: 'evil' },
    ])
    await stage.soon()
    const [sent, cancel] = [stage.peer.request('INVITE'), stage.peer.request('CANCEL')]
    expect(cancel.uri).toBe(sent.uri)
    for (const name of ['via', 'route', 'from', 'to', 'call-id'])
      expect(headersOf(cancel, name)).toEqual(headersOf(sent, name))
    expect(headerOf(cancel, 'cseq')).toBe('1 CANCEL')
    expect(headersOf(cancel, 'reason')).toEqual(['SIP;cause=200'])
    expect([headerOf(cancel, 'content-type'), cancel.body.byteLength]).toEqual([undefined, 0])
  })

  it('is sent once, and not at all when the outcome is there', async () => {
    const stage = await openStage()
    const first = stage.agent.invite(outgoing)
    await stage.soon()
    stage.peer.respond('INVITE', 180)
    await stage.soon()
    first.cancel()
    first.cancel()
    await stage.soon()
    const done = stage.agent.invite(outgoing)
    await stage.soon()
    stage.peer.respond('INVITE', 486)
    await stage.soon()
    done.cancel()
    await stage.soon()
    expect(stage.peer.starts.filter((start) => start === 'CANCEL')).toHaveLength(1)
    expect((await settled(done.outcome)).response.status).toBe(486)
  })

  it('cancels the latest try after a challenge, not the one that was refused', async () => {
    const stage = await openStage()
    const invite = stage.agent.invite({ ...outgoing, credentials })
    await stage.soon()
    stage.peer.respond('INVITE', 401, { lines: [asked('n1')] })
    await stage.soon()
    stage.peer.respond('INVITE', 180)
    await stage.soon()
    invite.cancel()
    await stage.soon()
    expect(headerOf(stage.peer.last('CANCEL'), 'cseq')).toBe('2 CANCEL')
    expect(headerOf(stage.peer.last('CANCEL'), 'via')).toBe(headerOf(stage.peer.last('INVITE'), 'via'))
  })

  it('before the place is found sends nothing at all, and the outcome is 487', async () => {
    const found = Promise.withResolvers<Remote>()
    const stage = await openStage({ resolve: () => found.promise })
    const invite = stage.agent.invite(outgoing)
    await stage.soon()
    invite.cancel()
    found.resolve({ transport: 'udp', address: peerAddress, port: 5060 })
    await stage.soon()
    expect((await settled(invite.outcome)).response.status).toBe(487)
    expect(stage.network.sent).toEqual([])
  })

  it('turns any refusal that crosses it into 487', async () => {
    const stage = await openStage()
    const invite = stage.agent.invite(outgoing)
    await stage.soon()
    stage.peer.respond('INVITE', 180)
    await stage.soon()
    invite.cancel()
    stage.peer.respond('INVITE', 603)
    await stage.soon()
    expect((await settled(invite.outcome)).response.status).toBe(487)
  })
})

describe('a stack that stops', () => {
  it('ends an INVITE that rings with 503, and one whose place is not found yet', async () => {
    const found = Promise.withResolvers<Remote>()
    const stage = await openStage({ resolve: () => found.promise })
    const ringing = stage.agent.invite({
      ...outgoing,
      destination: { transport: 'udp', address: peerAddress, port: 5060 },
    })
    const waiting = stage.agent.invite(outgoing)
    await stage.soon()
    await stage.agent.stop()
    found.resolve({ transport: 'udp', address: peerAddress, port: 5060 })
    await stage.soon()
    expect((await settled(ringing.outcome)).response.status).toBe(503)
    expect((await settled(waiting.outcome)).response.status).toBe(503)
    expect([ringing.wasSent, waiting.wasSent]).toEqual([true, false])
    expect(stage.peer.starts).toEqual(['INVITE'])
    expect(stage.clock.pending).toBe(0)
  })

  it('lets go of a call that is up, without a word to its owner', async () => {
    const stage = await openStage()
    const told: string[] = []
    const dialog = await callOut(stage)
    dialog.listen(listenerOf(told))
    await stage.agent.stop()
    expect((await settled(dialog.request('INFO'))).status).toBe(481)
    expect(stage.agent.counters.calls).toBe(0)
    expect(told).toEqual([])
  })
})
