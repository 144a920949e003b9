// A recording server (RFC 7866 §3.2) without a SIP stack: it reads the messages, checks them against the RFC, responds
// as the test says, and keeps the audio of both streams.
import dgram from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Audio } from './audio.ts'
import { RtpPeer } from './rtp-peer.ts'
import { Inbox, until } from './wait.ts'
import { allNamed, parseXml, type XmlElement } from './xml.ts'

export interface ServerRequest {
  readonly method: string
  readonly head: string
  readonly body: string
  readonly header: (name: string) => string
}

/** A server's reaction to an INVITE. */
export type Answering = 'takes' | { readonly status: number } | 'is silent'

type Place = { readonly address: string; readonly port: number }

function parseRequest(text: string): ServerRequest {
  const at = text.indexOf('\r\n\r\n')
  const head = text.slice(0, at)
  return {
    method: head.split(' ', 1)[0] ?? '',
    head,
    body: text.slice(at + 4),
    header: (name) => new RegExp(`^${name}: *(.*)$`, 'im').exec(head)?.[1] ?? '',
  }
}

export class ServerRecording {
  readonly invite: ServerRequest
  readonly metadata: XmlElement
  readonly sdp: string
  /** The audio that the party sends, and the audio that it hears, in the order of the lines. */
  readonly streams: readonly [RtpPeer, RtpPeer]
  readonly reoffers = new Inbox<string>()
  readonly ended = new Inbox<true>()
  readonly confirmed = new Inbox<string>()
  readonly responses = new Inbox<string>()
  readonly tag = 'recorder-1'

  constructor(invite: ServerRequest, streams: readonly [RtpPeer, RtpPeer]) {
    this.invite = invite
    this.streams = streams
    const { sdp, metadata } = partsOf(invite)
    this.sdp = sdp
    this.metadata = parseXml(metadata)
    demandLines(sdp, this.metadata)
  }

  said = (): Audio => this.streams[0].audio('PCMU', 0)
  heard = (): Audio => this.streams[1].audio('PCMU', 0)

  answer(direction: 'recvonly' | 'inactive' = 'recvonly'): string {
    const [first, second] = this.streams.map((peer) =>
      peer.offer({ payloads: '0', lines: [`a=${direction}`] }),
    )
    return `${first}${second?.slice(second.indexOf('m=')) ?? ''}`
  }
}

/** Returns the parts of an INVITE, RFC 7866 §6.1.1 and §7; throws an Error that names a missing one. */
function partsOf(invite: ServerRequest): { sdp: string; metadata: string } {
  if (invite.header('require') !== 'siprec') throw new Error('the INVITE does not require siprec')
  if (!/^<sip:[^>]+>;\+sip\.src$/.test(invite.header('contact')))
    throw new Error('its Contact is no recorder')
  const boundary = /^multipart\/mixed; ?boundary=(\S+)$/.exec(invite.header('content-type'))?.[1]
  if (boundary === undefined) throw new Error(`its body is ${invite.header('content-type')}`)
  const [preamble, sdp = '', metadata = '', end] = invite.body.split(`--${boundary}`)
  if (preamble !== '' || end?.trim() !== '--') throw new Error('its body has other parts than two')
  const has = (part: string, ...lines: string[]): string => {
    const at = part.indexOf('\r\n\r\n')
    for (const line of lines)
      if (!part.slice(0, at).includes(`\r\n${line}`)) throw new Error(`no ${line} in ${part}`)
    return part.slice(at + 4, -2)
  }
  return {
    sdp: has(sdp, 'Content-Type: application/sdp'),
    metadata: has(
      metadata,
      'Content-Type: application/rs-metadata+xml',
      'Content-Disposition: recording-session',
    ),
  }
}

function demandLines(sdp: string, metadata: XmlElement): void {
  const lines = sdp.split(/^(?=m=)/m).slice(1)
  if (lines.length !== 2 || !lines.every((line) => /^m=audio /.test(line) && /^a=sendonly\r$/m.test(line)))
    throw new Error(`no two streams that are only sent: ${sdp}`)
  const labels = lines.map((line) => /^a=label:(\S+)\r$/m.exec(line)?.[1])
  const named = allNamed(metadata, 'label').map(({ text }) => text)
  if (new Set(labels).size !== 2 || labels.join() !== named.join())
    throw new Error(`the labels ${labels.join()} are ${named.join()} in the metadata`)
}

export class RecordingServer {
  readonly #socket: dgram.Socket
  readonly #answering: Answering
  readonly #recordings: ServerRecording[] = []
  readonly recordings = new Inbox<ServerRecording>()
  readonly requests = new Inbox<ServerRequest>()
  readonly faults: unknown[] = []
  #from: Place = { address: '127.0.0.1', port: 0 }
  #sequence = 1

  private constructor(socket: dgram.Socket, answering: Answering) {
    this.#socket = socket
    this.#answering = answering
    socket.on('message', (bytes, from) => {
      this.#from = from
      void this.#receive(bytes.toString('utf8'), from).catch((error: unknown) => this.faults.push(error))
    })
  }

  static async open(answering: Answering = 'takes'): Promise<RecordingServer> {
    const socket = dgram.createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new RecordingServer(socket, answering)
  }

  get uri(): string {
    return `sip:recorder@127.0.0.1:${(this.#socket.address() as AddressInfo).port}`
  }

  /** Returns the nth recording, once its INVITE is acknowledged. */
  async recording(n = 0): Promise<ServerRecording> {
    const recording = await until('a recording', () => {
      if (this.faults.length > 0) throw this.faults[0] as Error
      return this.recordings.items[n]
    })
    await recording.confirmed.next('an ACK', () => true)
    return recording
  }

  bye(recording: ServerRecording): void {
    this.#request(recording, 'BYE', '')
  }

  /** Requests both streams again, as a server does when it moves. */
  reinvite(recording: ServerRecording): void {
    this.#request(recording, 'INVITE', recording.answer())
  }

  async close(): Promise<void> {
    await Promise.all(this.#recordings.flatMap(({ streams }) => streams.map((peer) => peer.close())))
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }

  async #receive(text: string, from: Place): Promise<void> {
    if (text.startsWith('SIP/2.0')) return this.#response(text, from)
    const request = parseRequest(text)
    this.requests.push(request)
    const known = this.#recordings.find(
      ({ invite }) => invite.header('call-id') === request.header('call-id'),
    )
    if (request.method === 'ACK') {
      known?.confirmed.push(request.head)
      return
    }
    if (request.method === 'INVITE' && known === undefined) return this.#invited(request, from)
    if (request.method === 'INVITE' && known !== undefined) {
      known.reoffers.push(request.body)
      return this.#respond(
        request,
        from,
        200,
        known.answer(/^a=inactive\r$/m.test(request.body) ? 'inactive' : 'recvonly'),
      )
    }
    if (request.method === 'BYE') known?.ended.push(true)
    this.#respond(request, from, known === undefined && request.method !== 'CANCEL' ? 481 : 200)
  }

  async #invited(invite: ServerRequest, from: Place): Promise<void> {
    if (this.#answering === 'is silent') return
    if (this.#answering !== 'takes') return this.#respond(invite, from, this.#answering.status)
    const recording = new ServerRecording(invite, [await RtpPeer.open(), await RtpPeer.open()])
    this.#recordings.push(recording)
    this.recordings.push(recording)
    this.#respond(invite, from, 200, recording.answer())
  }

  #respond(request: ServerRequest, to: Place, status: number, sdp = ''): void {
    const field = (name: string): string => `${name}: ${request.header(name)}`
    const isTagged = /;tag=/.test(request.header('to'))
    this.#send(to, [
      `SIP/2.0 ${status} ${status === 200 ? 'OK' : 'Refused'}`,
      field('Via'),
      field('From'),
      `To: ${request.header('to')}${isTagged ? '' : ';tag=recorder-1'}`,
      field('Call-ID'),
      field('CSeq'),
      `Contact: <${this.uri}>;+sip.srs`,
      ...(sdp === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(sdp)}`,
      '',
      sdp,
    ])
  }

  #request(recording: ServerRecording, method: string, sdp: string, sequence = ++this.#sequence): void {
    const { invite } = recording
    const target = /<([^>]+)>/.exec(invite.header('contact'))?.[1] ?? ''
    const port = (this.#socket.address() as AddressInfo).port
    this.#send(this.#from, [
      `${method} ${target} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bKrecorder${sequence}${method}`,
      `From: ${invite.header('to')};tag=recorder-1`,
      `To: ${invite.header('from')}`,
      `Call-ID: ${invite.header('call-id')}`,
      `CSeq: ${sequence} ${method}`,
      'Max-Forwards: 70',
      `Contact: <${this.uri}>;+sip.srs`,
      ...(sdp === '' ? [] : ['Content-Type: application/sdp']),
      `Content-Length: ${Buffer.byteLength(sdp)}`,
      '',
      sdp,
    ])
  }

  #response(text: string, from: Place): void {
    const { header, body } = parseRequest(text)
    const recording = this.#recordings.find(({ invite }) => invite.header('call-id') === header('call-id'))
    const status = Number(text.split(' ', 2)[1])
    if (recording === undefined || status < 200) return
    const [sequence = '', method] = header('cseq').split(' ')
    if (method === 'INVITE') this.#request(recording, 'ACK', '', Number(sequence))
    recording.responses.push(`${status} ${method}\r\n${body}`)
    void from
  }

  #send(to: Place, lines: readonly string[]): void {
    this.#socket.send(lines.join('\r\n'), to.port, to.address)
  }
}
