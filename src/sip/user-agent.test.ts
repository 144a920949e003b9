import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createFakeNetwork, startOf, type FakeNetworkOptions } from '../../test/support/fake-network.ts'
import { headerOf, type SipMessage, type SipRequest, type SipResponse } from './message/message.ts'
import type { Dialog, DialogListener } from './dialogs.ts'
import type { IncomingInvite, OutgoingInviteOptions } from './invites.ts'
import type { Owed, Reply } from './message/reply.ts'
import type { Remote } from './transport/transports.ts'
import { createUriResolver } from './transport/resolve.ts'
import { createUserAgent } from './user-agent.ts'
import type { UserAgentOptions } from './user-agent-options.ts'

const callerAddress = '192.0.2.1'
const calleeAddress = '192.0.2.2'
const sdp = { type: 'application/sdp', content: 'v=0\r\n' }
const offered: OutgoingInviteOptions = {
  uri: `sip:bob@${calleeAddress}`,
  from: '"Alice" <sip:alice@a.example>',
  to: 'sip:bob@b.example;user=phone',
  body: sdp,
}
// These tests use addresses only.
const resolve = createUriResolver({ lookup: () => Promise.reject(new Error('no names')), bind: '0.0.0.0' })
// Twice 64*T1: the end of every transaction, and of one that began at the timeout of another.
const longAfterMs = 80_000

function udp(address: string): Remote {
  return { transport: 'udp', address, port: 5060 }
}

/** Returns a listener that writes down its calls. */
function recorder(told: string[], replies: { offered?: Reply; requested?: Reply } = {}): DialogListener {
  return {
    ended: () => void told.push('ended'),
    confirmed: () => void told.push('confirmed'),
    failed: (reason) => void told.push(reason),
    async offered(offer, request) {
      told.push(`${request.method} ${offer === undefined ? 'without' : 'with'} offer`)
      return replies.offered ?? { status: 200, body: sdp }
    },
    async requested(request) {
      told.push(request.method)
      return replies.requested ?? { status: 200 }
    },
  }
}

interface SetUp {
  readonly network?: Partial<FakeNetworkOptions>
  readonly callee?: Partial<UserAgentOptions>
  readonly invited?: (invite: IncomingInvite) => void
}

/** Sets up two user agents with a network between them; the callee answers immediately unless configured otherwise. */
function setUp({ network: networkOptions, callee: calleeOptions, invited }: SetUp = {}) {
  const clock = createFakeClock()
  const network = createFakeNetwork({ clock, ...networkOptions })
  const told = { caller: [] as string[], callee: [] as string[] }
  const answered: Dialog[] = []
  const common = {
    clock,
    log: silentLogger,
    userAgent: 'test',
    resolve,
    directory: { realmState: async () => 'unknown' as const, findUser: async () => undefined },
  }
  const caller = createUserAgent({
    ...common,
    transport: network.attach(callerAddress),
    hostFor: () => callerAddress,
    handlers: { invited: (invite) => invite.reject({ status: 603 }) },
  })
  const callee = createUserAgent({
    ...common,
    transport: network.attach(calleeAddress),
    hostFor: () => calleeAddress,
    handlers: {
      invited(invite) {
        if (invited !== undefined) return invited(invite)
        invite.progress({ status: 180 })
        const dialog = invite.accept({ body: sdp })
        dialog.listen(recorder(told.callee))
        answered.push(dialog)
      },
    },
    ...calleeOptions,
  })
  void Promise.all([caller.start(), callee.start()])
  const isQuiet = (): boolean =>
    clock.pending === 0 && [caller, callee].every(({ counters }) => isIdle(counters))
  return { clock, network, caller, callee, told, answered, isQuiet }
}

function isIdle({ calls, client, server }: { calls: number; client: number; server: number }): boolean {
  return calls + client + server === 0
}

/** Sets up a call that is established on both sides. */
async function connect(options?: SetUp) {
  const world = setUp(options)
  const outgoing = world.caller.invite(offered)
  await world.network.run(100)
  const outcome = await outgoing.outcome
  if (outcome.kind !== 'answered') throw new Error(`refused ${outcome.response.status}`)
  outcome.dialog.listen(recorder(world.told.caller))
  const incoming = world.answered[0]
  if (incoming === undefined && options?.invited === undefined) throw new Error('no dialog at the callee')
  return {
    ...world,
    outgoing: outcome.dialog,
    incoming: incoming ?? outcome.dialog,
    response: outcome.response,
  }
}

describe('a call', () => {
  it.each(['caller', 'callee'] as const)(
    'is set up and ended by the %s, and nothing is left',
    async (side) => {
      const { network, outgoing, incoming, told, isQuiet } = await connect()
      expect(told.callee).toEqual(['confirmed'])
      void (side === 'caller' ? outgoing : incoming).bye([{ name: 'reason', value: 'Q.850;cause=16' }])
      await network.run(100)
      expect(told[side === 'caller' ? 'callee' : 'caller']).toContain('ended')
      await network.run(longAfterMs)
      expect(isQuiet()).toBe(true)
      expect(network.sent.filter((line) => line.endsWith('BYE'))).toHaveLength(1)
    },
  )

  it('has one dialog ID on both sides and says who we are', async () => {
    const { outgoing, incoming, response } = await connect()
    expect([outgoing.callId, outgoing.localTag, outgoing.remoteTag]).toEqual([
      incoming.callId,
      incoming.remoteTag,
      incoming.localTag,
    ])
    expect(headerOf(response, 'server')).toBe('test')
    expect(headerOf(response, 'contact')).toBe(`<sip:bob@${calleeAddress}:5060>`)
    expect(headerOf(response, 'supported')).toBe('path, timer, 100rel')
    expect(headerOf(response, 'allow')).toBe('ACK, CANCEL, INVITE, BYE, OPTIONS, UPDATE, INFO, NOTIFY, PRACK')
    expect(headerOf(response, 'to')).toMatch(/^<sip:bob@b\.example;user=phone>;tag=/)
  })

  it('is refused with the status and headers the owner chose, without the line breaks in them', async () => {
    const { network, caller, isQuiet } = setUp({
      invited: (invite) =>
        invite.reject({ status: 486, headers: [{ name: 'X-Reason', value: 'a\r\nVia: evil' }] }),
    })
    const { outcome } = caller.invite(offered)
    await network.run(longAfterMs)
    const { kind, response } = await outcome
    expect([kind, response.status, headerOf(response, 'x-reason')]).toEqual(['refused', 486, 'a  Via: evil'])
    expect(isQuiet()).toBe(true)
  })

  it('tried at two places keeps its Call-ID, with a tag of its own for each, and names its user in Contact', async () => {
    const invites: IncomingInvite[] = []
    const { network, caller } = setUp({ invited: (invite) => void invites.push(invite) })
    const tried = { ...offered, callId: 'one@a.example', contactUser: '+44 20' }
    const [first, second] = [caller.invite(tried), caller.invite(tried)]
    await network.run(100)
    const fieldOf = (name: string): (string | undefined)[] =>
      invites.map(({ request }) => headerOf(request, name))
    expect(fieldOf('call-id')).toEqual(['one@a.example', 'one@a.example'])
    expect(new Set(fieldOf('from')).size).toBe(2)
    expect(fieldOf('contact')[0]).toBe(`<sip:+44%2020@${callerAddress}:5060>`)
    invites[0]?.reject({ status: 503 })
    invites[1]?.reject({ status: 486 })
    await network.run(100)
    expect((await first.outcome).response.status).toBe(503)
    expect((await second.outcome).response.status).toBe(486)
  })

  it('reports provisional responses, but not 100', async () => {
    const seen: number[] = []
    const { network, caller } = setUp()
    caller.invite({ ...offered, onProvisional: ({ status }) => void seen.push(status) })
    await network.run(100)
    expect(seen).toEqual([180])
  })

  it('ends in 408 when there is no answer, and in 503 when the place is no place', async () => {
    const { network, caller, isQuiet } = setUp()
    network.drops = () => true
    const silent = caller.invite(offered)
    const nowhere = caller.invite({ ...offered, uri: 'sips:bob@192.0.2.9' })
    await network.run(longAfterMs)
    expect((await silent.outcome).response.status).toBe(408)
    expect((await nowhere.outcome).response.status).toBe(503)
    expect(isQuiet()).toBe(true)
  })

  it('keeps proxies patient: a provisional response is repeated every minute', async () => {
    let invite: IncomingInvite | undefined
    const { network, caller } = setUp({ invited: (incoming) => (invite = incoming) })
    caller.invite(offered)
    await network.run(100)
    invite?.progress({ status: 183, body: sdp })
    await network.run(125_000)
    expect(network.sent.filter((line) => line.endsWith('183'))).toHaveLength(3)
    invite?.reject({ status: 480 })
  })
})

describe('loss and duplication', () => {
  it.each([1, 2, 3, 4, 5])(
    'leaves no ghost call with a tenth lost and a tenth doubled, seed %i',
    async (seed) => {
      const { network, caller, told, answered, isQuiet } = setUp({
        network: { lossPercent: 10, duplicatePercent: 10, maxDelayMs: 200, seed },
      })
      const calls = Array.from({ length: 30 }, () => caller.invite(offered))
      await network.run(20_000)
      const outcomes = await Promise.all(calls.map(({ outcome }) => outcome))
      const dialogs = outcomes.flatMap((outcome) => (outcome.kind === 'answered' ? [outcome.dialog] : []))
      expect(dialogs).toHaveLength(30)
      expect(new Set(answered.map(({ callId }) => callId)).size).toBe(30)
      for (const [index, dialog] of dialogs.entries()) {
        dialog.listen(recorder(told.caller))
        void (index % 2 === 0 ? dialog : answered.find(({ callId }) => callId === dialog.callId))?.bye()
      }
      await network.run(longAfterMs)
      expect(told.callee.filter((news) => news === 'confirmed')).toHaveLength(30)
      expect([...told.caller, ...told.callee].filter((news) => news === 'ended')).toHaveLength(30)
      expect(isQuiet()).toBe(true)
    },
  )

  it('answers an INVITE that came twice once', async () => {
    const { network, caller, answered } = setUp({ network: { duplicatePercent: 100 } })
    caller.invite(offered)
    await network.run(1_000)
    expect(answered).toHaveLength(1)
  })

  it('repeats a lost 200 until its ACK, over TCP too', async () => {
    const { network, caller, told } = setUp()
    let lost = 0
    network.drops = (message) => startOf(message) === '200' && lost++ < 3
    caller.invite({ ...offered, uri: `${offered.uri};transport=tcp` })
    await network.run(5_000)
    expect(told.callee).toEqual(['confirmed'])
    expect(network.sent.filter((line) => line.endsWith(' 200'))).toHaveLength(4)
  })

  it('acknowledges every copy of a 200 when the ACKs were lost', async () => {
    const { network, caller, told } = setUp()
    let lost = 0
    network.drops = (message) => startOf(message) === 'ACK' && lost++ < 4
    caller.invite(offered)
    await network.run(10_000)
    expect(told.callee).toEqual(['confirmed'])
    expect(network.sent.filter((line) => line.endsWith(' ACK'))).toHaveLength(5)
  })

  it('ends a call whose ACK never comes with BYE, after 64*T1', async () => {
    const { network, caller, told, isQuiet } = setUp()
    network.drops = (message) => startOf(message) === 'ACK'
    caller.invite(offered)
    await network.run(31_000)
    expect(network.sent).not.toContain(`${calleeAddress} BYE`)
    await network.run(2_000)
    expect(told.callee).toEqual(['ack-timeout'])
    expect(network.sent).toContain(`${calleeAddress} BYE`)
    await network.run(longAfterMs)
    expect(isQuiet()).toBe(true)
  })

  it('gives up a call whose peer has vanished: BYE without an answer ends it', async () => {
    const { network, incoming, callee } = await connect()
    network.drops = () => true
    void incoming.bye()
    await network.run(longAfterMs)
    expect(isIdle(callee.counters)).toBe(true)
  })
})

describe('BYE', () => {
  it('waits for the ACK when we are the callee', async () => {
    const { network, caller, answered, told } = setUp()
    network.drops = (message) => startOf(message) === 'ACK'
    caller.invite(offered)
    await network.run(100)
    void answered[0]?.bye()
    await network.run(300)
    expect(network.sent).not.toContain(`${calleeAddress} BYE`)
    network.drops = () => false
    await network.run(1_000)
    expect(network.sent).toContain(`${calleeAddress} BYE`)
    expect(told.callee).toContain('confirmed')
  })

  it('is sent once, however often it is asked for', async () => {
    const { network, outgoing } = await connect()
    const byes = Promise.all([outgoing.bye(), outgoing.bye()])
    await network.run(100)
    await byes
    await outgoing.bye()
    expect(network.sent.filter((line) => line.endsWith('BYE'))).toHaveLength(1)
  })

  it('from both sides at once is answered 200 both ways', async () => {
    const { network, outgoing, incoming, told, isQuiet } = await connect()
    const byes = Promise.all([outgoing.bye(), incoming.bye()])
    await network.run(100)
    await byes
    expect(told.caller).toEqual([])
    expect(told.callee).toEqual(['confirmed'])
    expect(network.sent.filter((line) => line.endsWith('481'))).toEqual([])
    await network.run(longAfterMs)
    expect(isQuiet()).toBe(true)
  })

  it('ends an early dialog as CANCEL does', async () => {
    let invite: IncomingInvite | undefined
    const abandoned: string[] = []
    const { network, caller } = setUp({
      invited(incoming) {
        invite = incoming
        incoming.onCancel(({ method }) => abandoned.push(method))
        incoming.progress({ status: 180 })
      },
    })
    const ringing = Promise.withResolvers<SipResponse>()
    const { outcome } = caller.invite({ ...offered, onProvisional: ringing.resolve })
    await network.run(100)
    const tag = /tag=(\S+)/.exec(headerOf(await ringing.promise, 'to') ?? '')?.[1] ?? ''
    const { request } = invite ?? { request: undefined }
    const bye = rawRequest('BYE', request, `${headerOf(request as SipRequest, 'to')};tag=${tag}`, 2)
    network.deliver(bye, { from: callerAddress, to: calleeAddress })
    await network.run(100)
    expect((await outcome).response.status).toBe(487)
    expect(abandoned).toEqual(['BYE'])
  })
})

/** Builds a request in the caller's dialog from outside its stack. */
function rawRequest(
  method: string,
  invite: SipRequest | undefined,
  to: string,
  sequence: number,
): Uint8Array {
  if (invite === undefined) throw new Error('no INVITE')
  return Buffer.from(
    [
      `${method} sip:${calleeAddress} SIP/2.0`,
      `Via: SIP/2.0/UDP ${callerAddress}:5060;branch=z9hG4bK${method}${sequence}`,
      `From: ${headerOf(invite, 'from')}`,
      `To: ${to}`,
      `Call-ID: ${headerOf(invite, 'call-id')}`,
      `CSeq: ${sequence} ${method}`,
      `Contact: <sip:new@${callerAddress}>`,
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n'),
  )
}

describe('CANCEL', () => {
  it('from this side ends a ringing call with 487', async () => {
    const cancelled: SipMessage[] = []
    const { network, caller, isQuiet } = setUp({
      invited(invite) {
        invite.progress({ status: 180 })
        invite.onCancel((cancel) => cancelled.push(cancel))
      },
    })
    const outgoing = caller.invite(offered)
    await network.run(100)
    outgoing.cancel([{ name: 'reason', value: 'SIP;cause=200;text="Call completed elsewhere"' }])
    await network.run(longAfterMs)
    expect((await outgoing.outcome).response.status).toBe(487)
    expect(cancelled.map((cancel) => headerOf(cancel, 'reason'))).toEqual([
      'SIP;cause=200;text="Call completed elsewhere"',
    ])
    expect(isQuiet()).toBe(true)
  })

  it('before any response waits for one, and is never sent when none comes', async () => {
    const { network, caller } = setUp()
    network.drops = (message) => message.kind === 'response'
    const outgoing = caller.invite(offered)
    outgoing.cancel()
    await network.run(longAfterMs)
    expect((await outgoing.outcome).response.status).toBe(487)
    expect(network.sent).not.toContain(`${callerAddress} CANCEL`)
  })

  it('that crossed a 200 still ends the call: ACK, then BYE', async () => {
    const { network, caller, told, isQuiet } = setUp()
    network.drops = (message) => startOf(message) === '180'
    const outgoing = caller.invite(offered)
    await network.run(10)
    outgoing.cancel()
    await network.run(longAfterMs)
    expect((await outgoing.outcome).kind).toBe('refused')
    expect(told.callee).toEqual(['confirmed', 'ended'])
    expect(isQuiet()).toBe(true)
  })

  it('lets a late accept end in nothing', async () => {
    let invite: IncomingInvite | undefined
    const { network, caller, callee, isQuiet } = setUp({ invited: (incoming) => (invite = incoming) })
    const outgoing = caller.invite(offered)
    await network.run(300)
    outgoing.cancel()
    await network.run(100)
    const dialog = invite?.accept({ body: sdp })
    expect(callee.counters.calls).toBe(0)
    expect((await dialog?.request('INFO'))?.status).toBe(481)
    await dialog?.bye()
    await network.run(longAfterMs)
    expect(isQuiet()).toBe(true)
  })
})

describe('requests within a dialog', () => {
  it('reach the owner, and its answer goes back', async () => {
    const { network, outgoing, incoming, told } = await connect()
    const answers = Promise.all([outgoing.request('INFO', { body: sdp }), incoming.request('INFO')])
    await network.run(100)
    expect((await answers).map(({ status }) => status)).toEqual([200, 200])
    expect([told.callee, told.caller]).toEqual([['confirmed', 'INFO'], ['INFO']])
  })

  it.each(['REFER', 'MESSAGE', 'SUBSCRIBE', 'PUBLISH'])(
    'that are not served stand in no Allow, and are refused: %s',
    async (method) => {
      const { network, outgoing, told } = await connect()
      const answer = outgoing.request(method)
      await network.run(100)
      expect((await answer).status).toBe(405)
      expect(headerOf(await answer, 'allow')).not.toContain(method)
      expect(told.callee).toEqual(['confirmed'])
    },
  )

  it('that refresh it keep the user of our Contact, and what we support', async () => {
    const seen: SipMessage[] = []
    const { network, outgoing, incoming } = await connect()
    network.drops = (message) => {
      if (message.kind === 'request' && message.method === 'INVITE') seen.push(message)
      return false
    }
    const answers = [outgoing.request('INVITE', { body: sdp })]
    await network.run(1_000)
    answers.push(incoming.request('INVITE', { body: sdp }))
    await network.run(1_000)
    const contacts = [...seen, ...(await Promise.all(answers))].map((message) => headerOf(message, 'contact'))
    // A caller without a contactUser has none; the callee is bob in its 200 and in its own re-INVITE.
    const bob = `<sip:bob@${calleeAddress}:5060>`
    const alice = `<sip:${callerAddress}:5060>`
    expect(contacts).toEqual([alice, bob, bob, alice])
    expect(seen.map((message) => headerOf(message, 'supported'))).toEqual([
      'path, timer, 100rel',
      'path, timer, 100rel',
    ])
  })

  it.each(['INVITE', 'UPDATE'])('take the SDP of an %s from any multipart body', async (method) => {
    const offers: (string | undefined)[] = []
    const listening: DialogListener = {
      ...recorder([]),
      async offered(offer) {
        offers.push(offer)
        return { status: 200, body: sdp }
      },
    }
    const { network, outgoing } = await connect({
      invited: (invite) => invite.accept({ body: sdp }).listen(listening),
    })
    for (const subtype of ['mixed', 'alternative', 'related', 'x-other']) {
      const content = '--b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--b--\r\n'
      const answer = outgoing.request(method, {
        body: { type: `multipart/${subtype};boundary=b`, content },
      })
      await network.run(100)
      expect((await answer).status).toBe(200)
    }
    expect(offers).toEqual(['v=0', 'v=0', 'v=0', 'v=0'])
  })

  it('are answered 500 when the owner fails, and the call goes on', async () => {
    const failing: DialogListener = {
      ...recorder([]),
      requested: () => Promise.reject(new Error('a fault of the owner')),
    }
    const { network, outgoing } = await connect({
      invited: (invite) => invite.accept({ body: sdp }).listen(failing),
    })
    const answers = Promise.all([outgoing.request('INFO'), outgoing.request('UPDATE', { body: sdp })])
    await network.run(100)
    expect((await answers).map(({ status }) => status)).toEqual([500, 200])
  })

  it('re-INVITE carries a new offer, and its 200 is repeated until the ACK', async () => {
    const { network, outgoing, told } = await connect()
    let lost = 0
    network.drops = (message) => startOf(message) === 'ACK' && lost++ < 2
    const answer = outgoing.request('INVITE', { body: sdp })
    await network.run(5_000)
    expect((await answer).status).toBe(200)
    expect(told.callee).toEqual(['confirmed', 'INVITE with offer'])
    expect(network.sent.filter((line) => line.endsWith(' ACK'))).toHaveLength(4)
  })

  it('UPDATE refreshes without a word to the owner, and carries an offer to it', async () => {
    const { network, incoming, told } = await connect()
    const bare = incoming.request('UPDATE')
    const withOffer = bare.then(() => incoming.request('UPDATE', { body: sdp }))
    await network.run(100)
    expect([(await bare).status, (await bare).body.byteLength]).toEqual([200, 0])
    expect([(await withOffer).status, (await withOffer).body.byteLength]).toEqual([200, 5])
    expect(told.caller).toEqual(['UPDATE with offer'])
  })

  it('re-INVITEs that cross are both answered 491', async () => {
    const { network, outgoing, incoming } = await connect()
    const both = Promise.all([
      outgoing.request('INVITE', { body: sdp }),
      incoming.request('INVITE', { body: sdp }),
    ])
    await network.run(1_000)
    expect((await both).map(({ status }) => status)).toEqual([491, 491])
    const again = outgoing.request('INVITE', { body: sdp })
    await network.run(1_000)
    expect((await again).status).toBe(200)
  })

  it('a body that is no SDP is answered 415', async () => {
    const { network, outgoing } = await connect()
    const answer = outgoing.request('UPDATE', { body: { type: 'text/plain', content: 'x' } })
    await network.run(100)
    expect([(await answer).status, headerOf(await answer, 'accept')]).toEqual([415, 'application/sdp'])
  })

  it('an old CSeq is answered 500, an unknown dialog 481', async () => {
    const { network, outgoing, incoming } = await connect()
    const first = outgoing.request('INFO')
    await network.run(100)
    await first
    const invite = { headers: [] as { name: string; value: string }[] }
    invite.headers.push({ name: 'from', value: `<sip:a@a>;tag=${outgoing.localTag}` })
    invite.headers.push({ name: 'call-id', value: outgoing.callId })
    const request = { kind: 'request', method: 'INVITE', uri: '', body: new Uint8Array(), ...invite } as const
    const way = { from: callerAddress, to: calleeAddress }
    network.sent.length = 0
    const old = rawRequest('INFO', request, `<sip:b@b>;tag=${incoming.localTag}`, 1)
    network.deliver(old, way)
    const foreign = rawRequest('INFO', request, '<sip:b@b>;tag=unknown', 9)
    network.deliver(foreign, way)
    await network.run(10)
    expect(network.sent).toEqual([`${calleeAddress} 500`, `${calleeAddress} 481`])
  })

  it('to a peer that has forgotten the call ends it on our side', async () => {
    const { network, outgoing, callee, told } = await connect()
    void callee.stop()
    network.drops = (message) => message.kind === 'request'
    const answer = outgoing.request('INFO')
    await network.run(longAfterMs)
    expect((await answer).status).toBe(408)
    expect(told.caller).toEqual(['transport-error'])
  })
})

describe('a callee that leads the dialog elsewhere', () => {
  const inside = '10.0.0.1'

  /** Collects what arrives at an address inside the network, and at the callee whose 200 names it. */
  async function call(field: string, options: Partial<OutgoingInviteOptions>) {
    const clock = createFakeClock()
    const network = createFakeNetwork({ clock })
    const got = { inside: [] as string[], callee: [] as string[] }
    network.attach(inside, (message) => void got.inside.push(startOf(message)))
    const callee = network.attach(calleeAddress, (message) => {
      got.callee.push(startOf(message))
      if (message.kind !== 'request' || message.method !== 'INVITE') return
      const lines = message.headers
        .filter(({ name }) => ['via', 'from', 'to', 'call-id', 'cseq'].includes(name))
        .map(({ name, value }) => (name === 'to' ? `To: ${value};tag=1` : `${name}: ${value}`))
      const contact = `Contact: <sip:b@${calleeAddress}>`
      const response = ['SIP/2.0 200 OK', ...lines, contact, field, 'Content-Length: 0', '', '']
      void callee.send(Buffer.from(response.join('\r\n')), {
        transport: 'udp',
        address: callerAddress,
        port: 5060,
      })
    })
    const caller = createUserAgent({
      transport: network.attach(callerAddress),
      hostFor: () => callerAddress,
      handlers: { invited: () => undefined },
      directory: { realmState: async () => 'unknown', findUser: async () => undefined },
      clock,
      log: silentLogger,
      userAgent: 'test',
      resolve,
    })
    await caller.start()
    const destination = { transport: 'udp', address: calleeAddress, port: 5060 } as const
    const { outcome } = caller.invite({ ...offered, destination, ...options })
    await network.run(100)
    const answer = await outcome
    if (answer.kind === 'answered') void answer.dialog.bye()
    await network.run(100)
    return got
  }

  it('is followed where it may be reached', async () => {
    const got = await call(`Record-Route: <sip:${inside};lr>`, { mayReach: () => true })
    expect(got).toEqual({ inside: ['ACK', 'BYE'], callee: ['INVITE'] })
  })

  it('is answered where it was called when it may not', async () => {
    const mayReach = ({ address }: Remote): boolean => address !== inside
    const got = await call(`Record-Route: <sip:${inside};lr>`, { mayReach })
    expect(got).toEqual({ inside: [], callee: ['INVITE', 'ACK', 'BYE'] })
  })
})

describe('the 200 of a second fork', () => {
  it('is acknowledged and its call ended', async () => {
    const clock = createFakeClock()
    const network = createFakeNetwork({ clock })
    const got: string[] = []
    const forks = network.attach(calleeAddress, (message) => {
      if (message.kind !== 'request') return
      got.push(`${message.method} ${/tag=(\S+)/.exec(headerOf(message, 'to') ?? '')?.[1] ?? ''}`)
      const tags = message.method === 'INVITE' ? ['one', 'two'] : message.method === 'BYE' ? [''] : []
      for (const tag of tags) {
        const copied = message.headers.filter(({ name }) =>
          ['via', 'from', 'to', 'call-id', 'cseq'].includes(name),
        )
        const lines = copied.map(({ name, value }) =>
          name === 'to' && tag !== '' ? `To: ${value};tag=${tag}` : `${name}: ${value}`,
        )
        const contact = `Contact: <sip:${tag}@${calleeAddress}>`
        const response = ['SIP/2.0 200 OK', ...lines, contact, 'Content-Length: 0', '', ''].join('\r\n')
        void forks.send(Buffer.from(response), { transport: 'udp', address: callerAddress, port: 5060 })
      }
    })
    const caller = createUserAgent({
      transport: network.attach(callerAddress),
      hostFor: () => callerAddress,
      handlers: { invited: () => undefined },
      directory: { realmState: async () => 'unknown', findUser: async () => undefined },
      clock,
      log: silentLogger,
      userAgent: 'test',
      resolve,
    })
    await caller.start()
    const outcome = caller.invite(offered).outcome
    await network.run(1_000)
    const answer = await outcome
    expect(answer.kind === 'answered' && answer.dialog.remoteTag).toBe('one')
    expect(got).toEqual(['INVITE ', 'ACK one', 'ACK two', 'BYE two'])
  })
})

describe('what a user agent refuses', () => {
  const header = (name: string, value: string) => ({ ...offered, headers: [{ name, value }] })
  const table: [string, OutgoingInviteOptions, number, string][] = [
    [
      'an extension',
      header('require', 'precondition, gruu'),
      420,
      'The extension precondition, gruu is not supported',
    ],
    [
      'Replaces of no call',
      header('replaces', 'x;to-tag=1;from-tag=2'),
      481,
      'Replaces names a call that is not here',
    ],
    ['Replaces that is no value', header('replaces', 'x;="'), 400, 'Replaces cannot be read'],
    [
      'a body it cannot read',
      { ...offered, body: { type: 'text/plain', content: 'x' } },
      415,
      'A body of text/plain is not read',
    ],
    [
      'a scheme',
      { ...offered, uri: 'urn:service:sos', destination: udp(calleeAddress) },
      416,
      'The URI urn:service:sos is not served',
    ],
  ]

  it.each(table)('%s, by itself where its owner does not ask to', async (_, options, status) => {
    const { network, caller, told } = setUp()
    const { outcome } = caller.invite(options)
    await network.run(100)
    expect((await outcome).response.status).toBe(status)
    expect(told.callee).toEqual([])
  })

  it.each(table)('%s, in words its owner may record', async (_, options, status, sentence) => {
    const owed: Owed[] = []
    const handlers = {
      invited: () => undefined,
      refused: (invite: IncomingInvite, refusal: Owed) => {
        owed.push(refusal)
        invite.reject(refusal.reply)
      },
    }
    const { network, caller, isQuiet } = setUp({ callee: { handlers } })
    const { outcome } = caller.invite(options)
    await network.run(100)
    const { response } = await outcome
    expect([response.status, headerOf(response, 'x-reason')]).toEqual([status, sentence])
    expect(owed).toHaveLength(1)
    await network.run(longAfterMs)
    expect(isQuiet()).toBe(true)
  })

  it('an INVITE that wants the place of a call that is up, which stays where it is', async () => {
    const { network, caller, outgoing, told } = await connect()
    const { callId, localTag, remoteTag } = outgoing
    const replaces = `${callId};to-tag=${remoteTag};from-tag=${localTag}`
    const { outcome } = caller.invite(header('replaces', replaces))
    await network.run(100)
    expect((await outcome).response.status).toBe(501)
    expect(told.callee).toEqual(['confirmed'])
    expect(told.caller).toEqual([])
  })

  it('no INVITE for what stands in its Accept', async () => {
    const { network, caller } = setUp()
    const { outcome } = caller.invite(header('accept', 'application/dtmf-relay'))
    await network.run(100)
    expect((await outcome).kind).toBe('answered')
  })

  it('no call while it drains: its owner does, and what is in a dialog goes on', async () => {
    const draining = await connect()
    draining.callee.drain()
    const late = draining.caller.invite(offered)
    const inDialog = draining.outgoing.request('INFO')
    await draining.network.run(100)
    expect((await late.outcome).kind).toBe('answered')
    expect((await inDialog).status).toBe(200)
  })
})

describe('an outgoing INVITE', () => {
  it.each([
    ['sip:bob@b.example:5070;transport=tcp;user=phone', '<sip:bob@b.example;user=phone>'],
    ['"Bob" <sips:bob@b.example:5061;lr;maddr=192.0.2.7;ttl=3?subject=x>;x=y', '"Bob" <sips:bob@b.example>'],
    ['sip:bob@[2001:db8::1]:5060', '<sip:bob@[2001:db8::1]>'],
    ['tel:+4420;phone-context=x', '<tel:+4420;phone-context=x>'],
  ])('names no port and no transport in To and From: %s is %s', async (address, expected) => {
    const { network, caller } = setUp({ invited: (invite) => void requests.push(invite.request) })
    const requests: SipRequest[] = []
    caller.invite({ ...offered, from: address, to: address })
    await network.run(100)
    expect(headerOf(requests[0] as SipRequest, 'to')).toBe(expected)
    expect(headerOf(requests[0] as SipRequest, 'from')).toMatch(/;tag=\w+$/)
    expect(headerOf(requests[0] as SipRequest, 'from')?.replace(/;tag=\w+$/, '')).toBe(expected)
  })

  const user = { username: 'alice', password: 'secret', realm: calleeAddress }
  const directory: UserAgentOptions['directory'] = {
    realmState: async () => 'active',
    findUser: async (_realm, username) => (username === user.username ? user : undefined),
  }
  const challenging = (algorithms: NonNullable<UserAgentOptions['digestAlgorithms']>) => {
    const world = setUp({
      callee: { directory, digestAlgorithms: algorithms },
      invited(invite) {
        void world.callee.authenticate(invite.request, invite.remote).then((result) => {
          if (result.verdict === 'accepted') invite.accept({ body: sdp }).listen(recorder(world.told.callee))
          else invite.reject(result.reply)
        })
      },
    })
    return world
  }

  it.each([[['MD5']], [['SHA-256']], [['SHA-256', 'MD5']]] as const)(
    'answers a challenge with %s',
    async (algorithms) => {
      const { network, caller, told } = challenging(algorithms)
      const { outcome } = caller.invite({ ...offered, credentials: user })
      await network.run(1_000)
      expect((await outcome).kind).toBe('answered')
      expect(told.callee).toEqual(['confirmed'])
      expect(network.sent.filter((line) => line.endsWith('INVITE'))).toHaveLength(2)
    },
  )

  it('gives up when its password is wrong, after one try', async () => {
    const { network, caller } = challenging(['MD5'])
    const { outcome } = caller.invite({ ...offered, credentials: { ...user, password: 'no' } })
    await network.run(1_000)
    expect((await outcome).response.status).toBe(403)
    expect(network.sent.filter((line) => line.endsWith('INVITE'))).toHaveLength(2)
  })

  it('goes to the first of its pre-loaded routes, or to the address that it is given', async () => {
    const { network, caller, told } = setUp()
    const routed = caller.invite({
      ...offered,
      uri: 'sip:bob@nowhere.invalid',
      routes: [`<sip:${calleeAddress};lr>`],
    })
    const directed = caller.invite({
      ...offered,
      uri: 'sip:bob@nowhere.invalid',
      destination: { transport: 'udp', address: calleeAddress, port: 5060 },
    })
    await network.run(100)
    expect((await routed.outcome).kind).toBe('answered')
    expect((await directed.outcome).kind).toBe('answered')
    expect(told.callee).toEqual(['confirmed', 'confirmed'])
  })
})

it('a phone is also at the place where a trusted proxy has heard it', async () => {
  const { callee } = setUp({ callee: { isProxy: (address) => address === callerAddress } })
  const bound = (remote: Remote) => ({
    aor: 'alice@a.example',
    key: remote.address,
    contact: `sip:alice@${remote.address}`,
    instance: undefined,
    q: undefined,
    expiresAt: Infinity,
    registeredAt: 1_000,
    remote,
    path: [`<sip:${remote.address};lr;received=sip:198.51.100.7:5060>`],
    callId: remote.address,
    cseq: 1,
    userAgent: undefined,
  })
  for (const address of [callerAddress, '192.0.2.9']) await callee.bindings.put(bound(udp(address)))
  expect(callee.bindings.reachedAt(udp('198.51.100.7')).map(({ key }) => key)).toEqual([callerAddress])
})
