// One real user agent on a fake network, and a peer whose every message the test writes.
import { createFakeClock, type FakeClock } from './fake-clock.ts'
import { createFakeNetwork, startOf, type FakeNetwork } from './fake-network.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { headerOf, type SipMessage, type SipRequest } from '../../src/sip/message/message.ts'
import { tagOf } from '../../src/sip/message/name-addr.ts'
import { createUriResolver } from '../../src/sip/transport/resolve.ts'
import type {
  Dialog,
  DialogListener,
  IncomingInvite,
  OutgoingInviteOptions,
  Remote,
  Reply,
} from '../../src/sip/sip.ts'
import type { TransportLayer } from '../../src/sip/transport/transport.ts'
import { createUserAgent, type UserAgent } from '../../src/sip/user-agent.ts'
import type { UserAgentOptions } from '../../src/sip/user-agent-options.ts'

export const agentAddress = '192.0.2.1'
export const peerAddress = '192.0.2.2'
export const sdp = { type: 'application/sdp', content: 'v=0\r\n' }

export interface PeerFields {
  /** The CSeq number; by default one more than that of the previous request. */
  readonly cseq?: number
  /** Whole header lines. */
  readonly lines?: readonly string[]
  /** An SDP. */
  readonly body?: string
  /** A body of another type, which `lines` declare. */
  readonly content?: string
  readonly branch?: string
  /** The tag in To; by default that of the agent, once it is known. */
  readonly toTag?: string
  /** The tag of the peer, in From of a request and in To of a response. */
  readonly tag?: string
  readonly callId?: string
  readonly uri?: string
}

/** The far end, without a stack of its own: it repeats, acknowledges and answers only what the test says. */
export class ScriptedPeer {
  readonly received: SipMessage[] = []
  readonly #transport: Pick<TransportLayer, 'send'>
  readonly #to: Remote
  #sequence = 0
  #branch = 0
  #agentTag: string | undefined
  #callId = 'call-of-the-peer'

  constructor(network: FakeNetwork, transport: Remote['transport']) {
    this.#to = { transport, address: agentAddress, port: 5060 }
    this.#transport = network.attach(peerAddress, (message) => {
      this.received.push(message)
      const tag = tagOf(headerOf(message, message.kind === 'request' ? 'from' : 'to'))
      this.#agentTag = tag ?? this.#agentTag
      if (message.kind === 'request') this.#callId = headerOf(message, 'call-id') ?? this.#callId
    })
  }

  /** The methods and statuses that arrived, in order. */
  get starts(): string[] {
    return this.received.map(startOf)
  }

  /** Returns the last message with this method or status. */
  last(start: string): SipMessage {
    const found = this.received.findLast((message) => startOf(message) === start)
    if (found === undefined) throw new Error(`no ${start} among ${this.starts.join(', ')}`)
    return found
  }

  request(method: string): SipRequest {
    const found = this.last(method)
    if (found.kind !== 'request') throw new Error(`${method} is no request`)
    return found
  }

  /** Returns the values of one field in every message with this method or status. */
  valuesOf(start: string, name: string): (string | undefined)[] {
    return this.received
      .filter((message) => startOf(message) === start)
      .map((message) => headerOf(message, name))
  }

  /** Sends a request; it belongs to the dialog as soon as the agent has a tag. */
  send(method: string, fields: PeerFields = {}): void {
    const { tag = 'peer', body = '', lines = [], callId = this.#callId } = fields
    const { toTag = this.#agentTag ?? '', branch = `z9hG4bKpeer${++this.#branch}` } = fields
    const cseq = fields.cseq ?? ++this.#sequence
    this.#sequence = Math.max(this.#sequence, cseq)
    this.#write([
      `${method} ${fields.uri ?? `sip:agent@${agentAddress}`} SIP/2.0`,
      `Via: SIP/2.0/${this.#to.transport.toUpperCase()} ${peerAddress}:5060;branch=${branch}`,
      `From: <sip:peer@b.example>;tag=${tag}`,
      `To: <sip:agent@a.example>${toTag === '' ? '' : `;tag=${toTag}`}`,
      `Call-ID: ${callId}`,
      `CSeq: ${cseq} ${method}`,
      ...lines,
      ...(lines.some((line) => line.startsWith('Contact:')) ? [] : [`Contact: <sip:peer@${peerAddress}>`]),
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(fields.content ?? body)}`,
      '',
      fields.content ?? body,
    ])
  }

  /** Responds to a request of the agent: the last one of this method, or the given one. */
  respond(request: string | SipRequest, status: number, fields: PeerFields = {}): void {
    const { tag = 'peer', body = '', lines = [] } = fields
    const { headers } = typeof request === 'string' ? this.request(request) : request
    const copied = headers
      .filter(({ name }) => ['via', 'from', 'to', 'call-id', 'cseq'].includes(name))
      .map(({ name, value }) =>
        name === 'to' && tagOf(value) === undefined && tag !== ''
          ? `${name}: ${value};tag=${tag}`
          : `${name}: ${value}`,
      )
    this.#write([
      `SIP/2.0 ${status} Some Phrase`,
      ...copied,
      ...lines,
      ...(lines.some((line) => line.startsWith('Contact:')) ? [] : [`Contact: <sip:peer@${peerAddress}>`]),
      ...(body === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ])
  }

  #write(lines: readonly string[]): void {
    void this.#transport.send(Buffer.from(lines.join('\r\n')), this.#to)
  }
}

export interface Stage {
  readonly clock: FakeClock
  readonly network: FakeNetwork
  readonly agent: UserAgent
  readonly peer: ScriptedPeer
  /** Invites of the peer, in order. */
  readonly invites: IncomingInvite[]
  /** Waits long enough for a message to arrive and be answered. */
  readonly soon: () => Promise<void>
  /** Lets time pass, in steps of half a second. */
  readonly pass: (ms: number) => Promise<void>
  /** Returns whether no call, no transaction and no timer is left. */
  readonly isQuiet: () => boolean
}

export interface StageOptions extends Partial<UserAgentOptions> {
  readonly by?: Remote['transport']
}

export async function openStage({ by = 'udp', ...options }: StageOptions = {}): Promise<Stage> {
  const clock = createFakeClock()
  const network = createFakeNetwork({ clock })
  const invites: IncomingInvite[] = []
  const agent = createUserAgent({
    transport: network.attach(agentAddress),
    hostFor: () => agentAddress,
    handlers: { invited: (invite) => void invites.push(invite) },
    directory: { realmState: async () => 'unknown', findUser: async () => undefined },
    resolve: createUriResolver({ lookup: () => Promise.reject(new Error('no names')), bind: '0.0.0.0' }),
    clock,
    log: silentLogger,
    userAgent: 'test',
    ...options,
  })
  await agent.start()
  return {
    clock,
    network,
    agent,
    peer: new ScriptedPeer(network, by),
    invites,
    soon: () => network.run(20),
    async pass(ms) {
      for (let left = ms; left > 0; left -= 500) {
        clock.advance(Math.min(500, left))
        await new Promise(setImmediate)
      }
      await network.run(20)
    },
    isQuiet: () => {
      const { calls, client, server } = agent.counters
      return calls + client + server + clock.pending === 0
    },
  }
}

/** Returns a listener that records what it receives, and answers with `answers`. */
export function listenerOf(
  told: string[],
  answers: { readonly offered?: Reply | Promise<Reply>; readonly requested?: Reply | Promise<Reply> } = {},
): DialogListener {
  return {
    ended: () => void told.push('ended'),
    confirmed: (ack) => void told.push(ack.body.byteLength > 0 ? 'confirmed with SDP' : 'confirmed'),
    failed: (reason) => void told.push(reason),
    async offered(offer, request) {
      told.push(`${request.method} ${offer === undefined ? 'without' : 'with'} offer`)
      return answers.offered ?? { status: 200, body: sdp }
    },
    async requested(request) {
      told.push(request.method)
      return answers.requested ?? { status: 200 }
    },
  }
}

/** Has the peer call and the agent answer; resolves when the ACK has arrived. */
export async function callIn(
  stage: Stage,
  fields: PeerFields = {},
  answer: Omit<Reply, 'status'> = { body: sdp },
): Promise<Dialog> {
  stage.peer.send('INVITE', { body: sdp.content, ...fields })
  await stage.soon()
  const dialog = stage.invites.at(-1)?.accept(answer)
  if (dialog === undefined) throw new Error('the INVITE did not come')
  await stage.soon()
  stage.peer.send('ACK', { cseq: fields.cseq ?? 1 })
  await stage.soon()
  return dialog
}

/** Has the agent call and the peer answer. */
export async function callOut(
  stage: Stage,
  options: Partial<OutgoingInviteOptions> = {},
  answer: PeerFields = {},
): Promise<Dialog> {
  const { outcome } = stage.agent.invite({ ...outgoing, ...options })
  await stage.soon()
  stage.peer.respond('INVITE', 200, { body: sdp.content, ...answer })
  await stage.soon()
  const result = await outcome
  if (result.kind !== 'answered') throw new Error(`refused ${result.response.status}`)
  return result.dialog
}

/** Options of an INVITE from the agent to the peer. */
export const outgoing: OutgoingInviteOptions = {
  uri: `sip:peer@${peerAddress}`,
  from: 'sip:agent@a.example',
  to: 'sip:peer@b.example',
  body: sdp,
}

/** Returns the final response that a promise has resolved with; fails the test immediately if it has not. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
  const nothing = Symbol('nothing')
  const value = await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, nothing))])
  if (value === nothing) throw new Error('nothing has come yet')
  return value as T
}
