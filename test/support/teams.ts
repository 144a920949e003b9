// Microsoft Teams as a session border controller sees it, without a SIP stack: proxies that check requests against
// Microsoft's documents of Direct Routing, calls that it makes, and the encrypted audio of both.
import { randomBytes, X509Certificate } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { connect, createServer, type Server, type TLSSocket } from 'node:tls'
import { createLaws } from '../../src/media/codecs/g711.ts'
import { parseRtp, writeRtpHeader } from '../../src/media/rtp/packet.ts'
import { SrtpReceiver, SrtpSender } from '../../src/media/srtp/srtp.ts'
import { slice, toneShare, type Audio } from './audio.ts'
import type { Authority, Certificate } from './certificates.ts'
import { Inbox, until } from './wait.ts'

/** The address of Teams for signalling and media. */
export const teamsAddress = '127.0.0.9'
const suite = 'AES_CM_128_HMAC_SHA1_80'
const { PCMU } = createLaws()

export interface TeamsMessage {
  readonly start: string
  readonly method: string
  readonly body: string
  /** Returns the first field of this name, or an empty string. */
  readonly header: (name: string) => string
}

/** A request that Teams has received. */
export interface TeamsRequest extends TeamsMessage {
  readonly proxy: number
  respond(status: string, lines?: readonly string[], body?: string): void
}

function parse(text: string, body: string): TeamsMessage {
  const [start = ''] = text.split('\r\n', 1)
  const header = (name: string): string => new RegExp(`^${name}: *(.*)$`, 'im').exec(text)?.[1] ?? ''
  return { start, method: start.split(' ', 1)[0] ?? '', body, header }
}

function frame(lines: readonly string[], body: string): string {
  const type = body === '' ? [] : ['Content-Type: application/sdp']
  return [...lines, ...type, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')
}

/** Splits the data of a connection into messages. */
function read(socket: TLSSocket, message: (one: TeamsMessage) => void): void {
  let text = ''
  socket.on('error', () => undefined)
  socket.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).replace(/^(?:\r\n)+/, '')
    for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
      const head = text.slice(0, end)
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
      if (text.length < end + 4 + length) return
      const body = text.slice(end + 4, end + 4 + length)
      text = text.slice(end + 4 + length)
      message(parse(head, body))
    }
  })
}

const hostOf = (value: string): string => /sips?:(?:[^@>;]*@)?([^:;>]+)/.exec(value)?.[1] ?? ''

/** Returns the faults of a request by Microsoft's documents: "Direct Routing - SIP protocol". */
function faultsOf(one: TeamsMessage, certificate: X509Certificate | undefined): string[] {
  const [, uri = ''] = one.start.split(' ')
  const contact = one.header('contact')
  const name = hostOf(contact)
  const fault = (is: boolean, sentence: string): string[] => (is ? [`${one.method}: ${sentence}`] : [])
  const always = [
    ...fault(/sips:/.test(`${uri}${contact}${one.header('from')}`), 'a sips URI is not taken'),
    ...fault(one.header('replaces') !== '', 'a request with Replaces is refused'),
    ...fault(certificate === undefined, 'no certificate was shown'),
  ]
  if (one.method !== 'INVITE' && one.method !== 'OPTIONS') return always
  const named = [
    ...always,
    ...fault(/^[\d.]*$/.test(name), `Contact has no FQDN: ${contact}`),
    ...fault(certificate?.checkHost(name) === undefined, `the certificate does not name ${name}`),
    ...fault(!contact.includes(';transport=tls>'), `Contact has another transport: ${contact}`),
    ...fault(hostOf(one.header('from')) !== name, `From has another host: ${one.header('from')}`),
  ]
  if (one.method === 'OPTIONS')
    return [...named, ...fault(/@/.test(`${uri}${contact}${one.header('from')}`), 'a user is named')]
  return [
    ...named,
    ...fault(/^sip:[^@]+@/.test(uri) && !/^sip:\+\d+@.*user=phone/.test(uri), `no phone number: ${uri}`),
    ...fault(!/^m=audio \d+ RTP\/SAVP /m.test(one.body), 'the offer is not encrypted'),
    ...fault(!new RegExp(`^a=crypto:\\d+ ${suite} inline:`, 'm').test(one.body), `no ${suite}`),
  ]
}

/** One side of a conversation: sends a tone and hears the other side, both by SRTP. */
export class TeamsVoice {
  readonly #socket: Socket
  readonly #key = Uint8Array.from(randomBytes(30))
  readonly #heard: Buffer[] = []
  readonly #sender = new SrtpSender({ suite, key: this.#key })
  #receiver: SrtpReceiver | undefined
  #timer: NodeJS.Timeout | undefined
  #plain = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('message', (datagram) => {
      const packet = this.#receiver?.unprotect(Buffer.from(datagram))
      if (packet === undefined || typeof packet === 'string') return void (this.#plain += 1)
      const rtp = parseRtp(packet)
      if (rtp?.payloadType === 0) this.#heard.push(Buffer.from(rtp.payload))
    })
  }

  static async open(): Promise<TeamsVoice> {
    const socket = createSocket('udp4')
    socket.bind(0, teamsAddress)
    await once(socket, 'listening')
    return new TeamsVoice(socket)
  }

  /** Returns an offer, or the answer to the line with this tag. It accepts PCMU only. */
  sdp(tag?: string): string {
    const key = Buffer.from(this.#key).toString('base64')
    return [
      'v=0',
      `o=- 91249 0 IN IP4 ${teamsAddress}`,
      's=session',
      `c=IN IP4 ${teamsAddress}`,
      't=0 0',
      `m=audio ${this.#socket.address().port} RTP/SAVP ${tag === undefined ? '104 0 8 9 13 101' : '0'}`,
      'a=rtpmap:104 SILK/16000',
      'a=rtpmap:9 G722/8000',
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:8 PCMA/8000',
      'a=rtpmap:13 CN/8000',
      'a=rtpmap:101 telephone-event/8000',
      `a=crypto:${tag ?? '1'} ${suite} inline:${key}|2^31`,
      'a=ptime:20',
      '',
    ].join('\r\n')
  }

  /** Sends a tone to this SDP, and returns the tag of the chosen key. */
  talks(sdp: string, hz: number): string {
    const port = Number(/^m=audio (\d+)/m.exec(sdp)?.[1])
    const [, tag = '', key = ''] = new RegExp(`a=crypto:(\\d+) ${suite} inline:([\\w+/=]+)`).exec(sdp) ?? []
    this.#receiver = new SrtpReceiver({ suite, key: Uint8Array.from(Buffer.from(key, 'base64')) })
    let tick = 0
    clearInterval(this.#timer)
    this.#timer = setInterval(() => this.#send(tick++, hz, port), 20)
    return tag
  }

  #send(tick: number, hz: number, port: number): void {
    const packet = Buffer.alloc(172)
    const stream = {
      marker: tick === 0,
      payloadType: 0,
      sequence: tick & 0xffff,
      timestamp: tick * 160,
      ssrc: 7,
    }
    writeRtpHeader(packet, stream)
    for (let at = 0; at < 160; at += 1) {
      const sample = Math.round(12_000 * Math.sin((2 * Math.PI * hz * (tick * 160 + at)) / 8000))
      packet[12 + at] = PCMU.encode[sample & 0xffff] ?? 0xff
    }
    const slot = Buffer.alloc(200)
    this.#socket.send(slot.subarray(0, this.#sender.protect(packet, 172, slot)), port, '127.0.0.1')
  }

  /** Resolves when the newest 200 ms are that tone. */
  async hears(hz: number): Promise<void> {
    await until(`${hz} Hz to be heard by Teams`, () => toneShare(this.#newest(), hz) > 0.8)
  }

  #newest(): Audio {
    const octets = Buffer.concat(this.#heard.slice(-10))
    const samples = Float64Array.from(octets, (octet) => (PCMU.decode[octet] ?? 0) / 32_768)
    return slice({ sampleRate: 8000, samples }, 0, (samples.length / 8000) * 1000)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#socket.close()
  }
}

export interface TeamsOptions {
  /** The ports of its proxies. */
  readonly ports: readonly number[]
  readonly authority: Authority
  /** The platform's port for SIP over TLS. */
  readonly platformPort: number
  /** The FQDN with which the platform is paired. */
  readonly fqdn: string
}

export class TeamsStandIn {
  readonly requests = new Inbox<TeamsRequest>()
  /** The responses to the requests of Teams. */
  readonly responses = new Inbox<TeamsMessage>()
  /** The platform's violations of Microsoft's documents. */
  readonly faults: string[] = []
  readonly #options: TeamsOptions
  readonly #servers: Server[] = []
  readonly #sockets = new Set<TLSSocket>()
  #client: TLSSocket | undefined

  private constructor(options: TeamsOptions) {
    this.#options = options
  }

  static async open(options: TeamsOptions): Promise<TeamsStandIn> {
    const teams = new TeamsStandIn(options)
    const { key, certificates: cert } = options.authority.issue({ names: `IP:${teamsAddress}` })
    const identity: Pick<Certificate, 'key'> & { cert: string } = { key, cert }
    for (const [proxy, port] of options.ports.entries()) await teams.#listen(proxy, port, identity)
    return teams
  }

  async #listen(proxy: number, port: number, identity: { key: string; cert: string }): Promise<void> {
    const { certificate: ca } = this.#options.authority
    const mutual = { requestCert: true, rejectUnauthorized: false }
    const server = createServer({ ...identity, ca, ...mutual }, (socket) => {
      this.#sockets.add(socket)
      const shown = socket.authorized ? socket.getPeerX509Certificate() : undefined
      read(socket, (message) => this.#received(socket, message, { proxy, shown }))
    })
    this.#servers.push(server)
    server.listen(port, teamsAddress)
    await once(server, 'listening')
  }

  #received(
    socket: TLSSocket,
    message: TeamsMessage,
    { proxy, shown }: { readonly proxy: number; readonly shown: X509Certificate | undefined },
  ): void {
    if (message.start.startsWith('SIP/2.0')) return this.responses.push(message)
    this.faults.push(...faultsOf(message, shown))
    const to = message.header('to')
    const tagged = /;tag=/.test(to) ? to : `${to};tag=teams-${proxy}`
    const copied = ['via', 'from', 'call-id', 'cseq'].map((name) => `${name}: ${message.header(name)}`)
    this.requests.push({
      ...message,
      proxy,
      respond: (status, lines = [], body = '') =>
        void socket.write(frame([`SIP/2.0 ${status}`, ...copied, `to: ${tagged}`, ...lines], body)),
    })
  }

  /** Resolves with the next request of a method that reached a proxy, BYE and ACK included. */
  next(method: string, is: (one: TeamsRequest) => boolean = () => true, from = 0): Promise<TeamsRequest> {
    return this.requests.next(`${method} at Teams`, (one) => one.method === method && is(one), { from })
  }

  /** Sends on a separate connection from the address of Teams; the platform must prove the FQDN. */
  async send(lines: readonly string[], body = ''): Promise<void> {
    if (this.#client === undefined) {
      const { authority, platformPort: port, fqdn: servername } = this.#options
      const to = {
        host: '127.0.0.1',
        port,
        servername,
        ca: authority.certificate,
        localAddress: teamsAddress,
      }
      const client = connect(to)
      this.#client = client
      await once(client, 'secureConnect')
      const certificate = client.getPeerX509Certificate()
      if (certificate === undefined) throw new Error('the platform has shown no certificate')
      const shown = new X509Certificate(certificate.raw)
      read(client, (message) => this.#received(client, message, { proxy: -1, shown }))
    }
    this.#client.write(frame(lines, body))
  }

  /** Returns the header lines that each request of Teams has. */
  lines(start: string, callId: string, cseq: string): string[] {
    const via = `Via: SIP/2.0/TLS ${teamsAddress}:5061;branch=z9hG4bK${randomBytes(6).toString('hex')}`
    return [`${start} SIP/2.0`, via, `Call-ID: ${callId}`, `CSeq: ${cseq}`, 'Max-Forwards: 70', this.contact]
  }

  get contact(): string {
    return `Contact: <sip:api.teams@${teamsAddress}:${this.#options.ports[0]};transport=tls;x-i=1>`
  }

  async close(): Promise<void> {
    this.#client?.destroy()
    for (const socket of this.#sockets) socket.destroy()
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}
