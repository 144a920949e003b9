// A recording client (RFC 7866 §3.1) with its own address: it sends both sides of a conversation to the platform, as
// two tones.
import dgram from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  headerOf,
  type HeaderField,
  type SipMessage,
  type SipResponse,
} from '../../src/sip/message/message.ts'
import { sdpOf } from '../../src/sip/message/body.ts'
import type { Dialog, IncomingInvite, Sip } from '../../src/sip/sip.ts'
import type { Platform } from './platform-process.ts'
import { RtpPeer } from './rtp-peer.ts'
import { Talk } from './talking-phone.ts'
import { Inbox } from './wait.ts'
import { createCallerStack } from './caller-stack.ts'

export interface Sent {
  readonly headers?: readonly HeaderField[]
  /** The metadata, in a part next to the SDP. */
  readonly metadata?: string
  readonly type?: string
  /** The labels of the two lines of the SDP; none by default. */
  readonly labels?: readonly [string, string]
}

const boundary = 'b0undary'

export class RecordingClient {
  readonly #sip: Sip
  readonly #way: { readonly relay: Relay; readonly address: string }
  readonly #talks: readonly [Talk, Talk]
  readonly #offers: (labels?: readonly [string, string]) => string
  readonly ended = new Inbox<string>()
  dialog: Dialog | undefined

  private constructor(
    sip: Sip,
    way: { readonly relay: Relay; readonly address: string },
    peers: readonly [RtpPeer, RtpPeer],
  ) {
    this.#sip = sip
    this.#way = way
    this.#talks = [new Talk(peers[0]), new Talk(peers[1])]
    this.#offers = (labels) => {
      const [first = '', second = ''] = peers.map((peer, at) =>
        peer.offer({ lines: ['a=sendonly', ...(labels === undefined ? [] : [`a=label:${labels[at]}`])] }),
      )
      return `${first}${second.slice(second.indexOf('m='))}`
    }
  }

  /** Opens a client. Its two streams are tones of 400 and 700 Hz. */
  static async open(platform: Pick<Platform, 'sip'>, address: string): Promise<RecordingClient> {
    const sip = createCallerStack('recording client')
    await sip.start()
    const relay = await openRelay(platform, address)
    const client = new RecordingClient(sip, { relay, address }, [await RtpPeer.open(), await RtpPeer.open()])
    client.#talks[0].says(400)
    client.#talks[1].says(700)
    return client
  }

  /** Resolves with the final response; the streams go to the addresses of the answer. */
  async call(sent: Sent = {}): Promise<SipResponse> {
    const { relay, address } = this.#way
    const uri = 'sip:recorder@192.0.2.51'
    const { outcome } = this.#sip.invite({
      uri,
      from: 'sip:client@192.0.2.50',
      to: uri,
      // It is too large for UDP and tries TCP first; nothing listens at the relay, so it falls back to UDP.
      destination: { transport: 'udp', address, port: relay.port },
      headers: sent.headers ?? [],
      body: this.body(sent),
    })
    const answer = await outcome
    if (answer.kind !== 'answered') return answer.response
    this.dialog = answer.dialog
    answer.dialog.listen({
      ended: (bye) => this.ended.push(headerOf(bye, 'x-reason') ?? ''),
      confirmed: () => undefined,
      failed: (reason) => this.ended.push(reason),
      offered: async () => ({ status: 488 }),
      requested: async () => ({ status: 200 }),
    })
    const [first, second] = (sdpOf(answer.response) ?? '').split(/^(?=m=)/m).slice(1)
    this.#talks[0].follow(first ?? '')
    this.#talks[1].follow(second ?? '')
    return answer.response
  }

  body({ metadata, type = 'application/rs-metadata+xml', labels }: Sent = {}) {
    const sdp = this.#offers(labels)
    if (metadata === undefined) return { type: 'application/sdp', content: sdp }
    const parts = [
      ['application/sdp', sdp],
      [type, metadata],
    ].map(([one, content]) => `--${boundary}\r\nContent-Type: ${one}\r\n\r\n${content}\r\n`)
    return { type: `multipart/mixed;boundary=${boundary}`, content: `${parts.join('')}--${boundary}--\r\n` }
  }

  /** The number of samples that came back; there should be none. */
  get heard(): number {
    return this.#talks.reduce((sum, { heard }) => sum + heard.samples.length, 0)
  }

  async close(): Promise<void> {
    await this.#sip.stop()
    await this.#way.relay.close()
    await Promise.all(this.#talks.map((talk) => talk.close()))
  }
}

/** Opens a relay from this address to the platform, over UDP. */
async function openRelay(platform: Pick<Platform, 'sip'>, address: string): Promise<Relay> {
  const socket = dgram.createSocket('udp4')
  const { address: host, port } = platform.sip
  socket.bind(0, address)
  await once(socket, 'listening')
  let client = { address: host, port }
  socket.on('message', (bytes, from) => {
    const isClient = from.port !== port
    if (isClient) client = from
    const to = isClient ? { address: host, port } : client
    socket.send(bytes, to.port, to.address)
  })
  const own = (socket.address() as AddressInfo).port
  return {
    port: own,
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  }
}

interface Relay {
  readonly port: number
  close(): Promise<void>
}

/**
 * Opens a session border controller between a recording client, which calls `uri`, and the platform, which it calls
 * from the address. The audio bypasses it.
 */
export async function openBorder(platform: Pick<Platform, 'sip'>, address: string) {
  const relay = await openRelay(platform, address)
  const sip = createCallerStack('border', {
    invited: (invite) => void passOn(invite),
    serves: { recordings: true },
  })
  const bodyOf = (message: SipMessage) => ({
    type: headerOf(message, 'content-type') ?? '',
    content: Buffer.from(message.body).toString('utf8'),
  })
  async function passOn(invite: IncomingInvite): Promise<void> {
    const { outcome } = sip.invite({
      uri: 'sip:recorder@192.0.2.51',
      from: 'sip:border@192.0.2.50',
      to: 'sip:recorder@192.0.2.51',
      destination: { transport: 'udp', address, port: relay.port },
      headers: [{ name: 'require', value: 'siprec' }],
      body: bodyOf(invite.request),
    })
    const answer = await outcome
    if (answer.kind !== 'answered') return invite.reject({ status: 503 })
    const near = invite.accept({ body: bodyOf(answer.response) })
    const far = answer.dialog
    const requested = async () => ({ status: 200 })
    const confirmed = (): void => undefined
    const failed = (): void => undefined
    const offered = async (_offer: string | undefined, request: SipMessage) => {
      const response = await far.reoffer({ offer: () => bodyOf(request) })
      return { status: response.status, body: bodyOf(response) }
    }
    near.listen({ ended: () => void far.bye(), confirmed, failed, offered, requested })
    far.listen({ ended: () => void near.bye(), confirmed, failed, offered, requested })
  }
  await sip.start()
  return {
    uri: `sip:recorder@127.0.0.1:${sip.listening.port}`,
    async close() {
      await sip.stop()
      await relay.close()
    },
  }
}
