// The face of a stand-in vendor on loopback: one server with sessions of one shape. A file for each vendor speaks its protocol
// and states what breaks it as a sentence. Faults are scripted connection by connection.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import { createResampler, type Resampler } from '../../../src/lib/audio/resampler.ts'
import { listenLocally, type LocalServer } from '../local-http.ts'
import type { SpeechClip } from './speech-clips.ts'
import { SttEngine, type EngineOptions, type Heard, type Onset } from './stt-engine.ts'

/** The faults of one connection, in any combination. */
export interface Fault {
  /** The status that refuses the connection, such as 401, 429 or 500. */
  readonly refuseWith?: number
  /** How much later everything is sent. */
  readonly delayMs?: number
  /** Reads, and sends nothing. */
  readonly stalls?: boolean
  /** Cuts the connection once it has reported this many words, in the middle of the next one. */
  readonly cutAfterWords?: number
  /** 1006 closes without a word, which is the default. */
  readonly cutCode?: number
  /** Sends half a JSON text and some octets before the first result. */
  readonly garbage?: boolean
  /** Sends a message of this many bytes before the first result. */
  readonly giantBytes?: number
  /** Sends each message in two fragments, cut within a character of several octets if there is one. */
  readonly splitsUtf8?: boolean
  /** Sends the second of two finals before the first. */
  readonly swapsFinals?: boolean
  /** Sends a final without words before each final. */
  readonly emptyFinals?: boolean
  /** Sends the end of each turn twice. */
  readonly repeatsEnds?: boolean
}

export interface FrontOptions {
  readonly clips: readonly SpeechClip[]
  /** The key that it takes. */
  readonly key?: string
  /** How long it is silent before an utterance is final, if the client does not say. */
  readonly silenceMs?: number
  /** How long a connection may be idle, if the vendor limits that. */
  readonly idleMs?: number
  /** How much audio may arrive before its time: what is replayed after a reconnection. */
  readonly maxAheadMs?: number
}

/** A connection or request as tests see it. */
export interface FrontSession {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The JSON messages that came in, and the ones that went out. */
  readonly received: readonly unknown[]
  readonly sent: readonly unknown[]
  /** The utterances that were recognised. */
  readonly finals: readonly Heard[]
  readonly audioMs: number
  readonly fault: Fault
  /** The close code once it is closed, 1006 without one. */
  readonly code: number | undefined
}

export interface Front {
  /** Where clients connect, with the path and without the query. */
  readonly url: string
  /** Host and port. */
  readonly host: string
  /** Every connection and request, also refused ones. */
  readonly sessions: readonly FrontSession[]
  /** A sentence for everything that was sent and should not have been. */
  readonly breaches: readonly string[]
  /** Scripts the next connections, one fault for each; `{}` is none. */
  fail(...faults: readonly Fault[]): void
  close(): Promise<void>
}

/** A vendor's protocol. */
export interface Protocol {
  readonly name: string
  readonly path: string
  /** Returns what is wrong with the key of a request, which refuses it with 401. */
  readonly keyFault?: (request: IncomingMessage, url: URL) => string | undefined
  /** Returns the fault of a connection that belongs to an earlier request, which took it from the script. */
  readonly earlierFault?: (request: IncomingMessage, url: URL) => Fault | undefined
  readonly open: (session: Session) => SessionHandlers
  /** Responds to requests that are no WebSocket. */
  readonly request?: (session: Session, request: IncomingMessage, response: ServerResponse) => Promise<void>
}

export interface SessionHandlers {
  readonly text: (message: unknown, text: string) => void
  readonly audio: (bytes: Buffer) => void
  readonly idleMs?: number
}

/** The kinds of messages that faults tell apart. */
export type Kind = 'partial' | 'end' | 'other'

export class Session implements FrontSession {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly received: unknown[] = []
  readonly sent: unknown[] = []
  readonly finals: Heard[] = []
  readonly fault: Fault
  code: number | undefined
  /** Set by the protocol when the client has said that no audio follows. */
  hasEnded = false
  readonly #front: FrontServer
  readonly #timers = new Set<NodeJS.Timeout>()
  #socket: WebSocket | undefined
  #engine: SttEngine | undefined
  #format: AudioFormat | undefined
  #resampler: Resampler | undefined
  #pace: Pace | undefined
  #hasResult = false
  #held: (() => void) | undefined

  constructor(front: FrontServer, request: IncomingMessage, fault: Fault) {
    const url = new URL(request.url ?? '/', 'http://front')
    this.#front = front
    this.path = url.pathname
    this.query = url.searchParams
    this.headers = request.headers
    this.fault = fault
  }

  get audioMs(): number {
    return this.#engine?.receivedMs ?? 0
  }

  /** How long it has been silent. */
  get silentMs(): number {
    return this.#engine?.silentMs ?? 0
  }

  get options(): FrontOptions {
    return this.#front.options
  }

  breach(sentence: string): void {
    const { name } = this.#front.protocol
    const nth = this.#front.sessions.indexOf(this) + 1
    const text = `${name}, connection ${nth}: ${sentence}`
    if (!this.#front.breaches.includes(text)) this.#front.breaches.push(text)
  }

  /** Prepares to hear audio. A rate that cannot be heard is a breach, and then nothing is heard. */
  listen(format: AudioFormat, hear: (event: Heard | Onset) => void, silenceMs?: number): void {
    const { sampleRate, encoding } = format
    const rate = telephoneRates.find((one) => one === sampleRate)
    const isWide = wideRates.includes(sampleRate) && encoding === 'linear16'
    if (rate === undefined && !isWide)
      return this.breach(`audio of ${sampleRate} Hz was announced, which this stand-in cannot hear`)
    if (isWide) this.#resampler = createResampler(sampleRate, 16_000)
    this.#format = format
    this.#engine = new SttEngine({
      clips: this.options.clips,
      sampleRate: rate ?? 16_000,
      encoding,
      silenceMs: silenceMs ?? this.options.silenceMs ?? 240,
      hear: (event) => {
        if (event.type === 'final') this.finals.push(event)
        hear(event)
      },
    })
  }

  audio(bytes: Buffer): void {
    if (this.hasEnded) return this.breach('audio was sent after the end')
    if (this.#engine === undefined) return this.breach('audio was sent before its format was known')
    if (this.#format?.encoding === 'linear16' && bytes.length % 2 === 1)
      this.breach('a message of audio ends within a sample')
    const before = this.#engine.receivedMs
    this.#engine.push(this.#resampler === undefined ? bytes : resampled(bytes, this.#resampler))
    this.#pace ??= new Pace(this.options.maxAheadMs ?? 9000)
    const fault = this.#pace.take(this.#engine.receivedMs - before)
    if (fault !== undefined) this.breach(fault)
  }

  finalize(): void {
    this.#engine?.finalize()
  }

  /** Sends a JSON message. A stalled session sends nothing. */
  send(message: unknown, kind: Kind = 'other'): void {
    if (this.#isMute()) return
    if (kind !== 'other') this.#beforeResult()
    this.#later(() => {
      this.sent.push(message)
      const text = JSON.stringify(message)
      this.#write(text)
      if (kind === 'end' && this.fault.repeatsEnds === true) this.#write(text)
    })
  }

  /** Sends what was heard, and does with partials and finals what the fault says. */
  report(heard: Heard, messageOf: (heard: Heard) => unknown): void {
    const { emptyFinals, swapsFinals, cutAfterWords } = this.fault
    const send = (): void => this.send(messageOf(heard), heard.type === 'final' ? 'end' : 'partial')
    if (heard.type === 'partial') send()
    else {
      if (emptyFinals === true) this.send(messageOf({ ...heard, text: '', words: [], confidence: 0 }))
      const held = this.#held
      this.#held = undefined
      if (swapsFinals === true && held === undefined) this.#held = send
      else {
        send()
        held?.()
      }
    }
    if (cutAfterWords !== undefined && heard.words.length >= cutAfterWords)
      this.#later(() => this.end(this.fault.cutCode ?? 1006, 'cut'))
  }

  /** Sends the final that was held back, then closes. */
  end(code = 1000, reason = ''): void {
    this.#held?.()
    this.#held = undefined
    this.#later(() => {
      if (code === 1006) this.#socket?.terminate()
      else this.#socket?.close(code, reason)
    })
  }

  /** Runs something later, unless the connection has closed. */
  after(ms: number, act: () => void): () => void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms)
    this.#timers.add(timer)
    return () => {
      clearTimeout(timer)
      this.#timers.delete(timer)
    }
  }

  attach(socket: WebSocket): void {
    this.#socket = socket
    const handlers = this.#front.protocol.open(this)
    let stopWatch: (() => void) | undefined
    const watch = (): void => {
      stopWatch?.()
      const { idleMs } = handlers
      if (idleMs === undefined) return
      stopWatch = this.after(idleMs, () => {
        if (this.hasEnded) return
        this.breach(`nothing was sent for ${idleMs} ms, not even what keeps a connection alive`)
        this.end(1011, 'timeout')
      })
    }
    watch()
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer, isBinary) => {
      watch()
      if (isBinary) return this.#binary(data, handlers)
      const text = data.toString('utf8')
      const message = parsed(text)
      // An empty message is the end for some.
      if (message === undefined && text !== '')
        this.breach(`a text that is not JSON was sent: ${text.slice(0, 40)}`)
      this.received.push(message)
      handlers.text(message, text)
    })
    socket.on('close', (code) => this.closed(code))
  }

  closed(code: number): void {
    this.code = code === 1005 ? 1000 : code
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  #binary(data: Buffer, { audio }: SessionHandlers): void {
    if (data.length > 1 && data[0] === 0x7b && data.at(-1) === 0x7d && parsed(data.toString()) !== undefined)
      this.breach(`a control message was sent as binary: ${data.toString().slice(0, 40)}`)
    else audio(data)
  }

  #isMute(): boolean {
    return this.fault.stalls === true
  }

  #beforeResult(): void {
    if (this.#hasResult) return
    this.#hasResult = true
    const { garbage, giantBytes } = this.fault
    if (garbage === true)
      this.#later(() => {
        this.#socket?.send('{"type":"Results","channel":{"alter')
        this.#socket?.send(Buffer.from([0xff, 0x00, 0xfe, 0x7b]))
      })
    if (giantBytes !== undefined)
      this.#later(() => this.#socket?.send(`{"type":"Results","padding":"${'x'.repeat(giantBytes)}"}`))
  }

  #later(act: () => void): void {
    const { delayMs } = this.fault
    if (delayMs === undefined) act()
    else this.after(delayMs, act)
  }

  #write(text: string): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    if (this.fault.splitsUtf8 !== true) return this.#socket.send(text)
    const bytes = Buffer.from(text)
    const wide = bytes.findIndex((octet) => octet >= 0xc0)
    const cut = wide === -1 ? bytes.length >> 1 : wide + 1
    this.#socket.send(bytes.subarray(0, cut), { fin: false, binary: false })
    this.#socket.send(bytes.subarray(cut), { fin: true, binary: false })
  }
}

export interface AudioFormat {
  readonly sampleRate: number
  readonly encoding: EngineOptions['encoding']
}

/** Compares audio with the time that has passed, from the last gap on: a wrong rate or encoding is half or twice of it. */
class Pace {
  readonly #maxAheadMs: number
  #startMs = 0
  #lastMs = -Infinity
  #audioMs = 0
  #hasFault = false

  constructor(maxAheadMs: number) {
    this.#maxAheadMs = maxAheadMs
  }

  take(audioMs: number): string | undefined {
    const now = performance.now()
    if (now - this.#lastMs > gapMs) {
      this.#startMs = now
      this.#audioMs = 0
    }
    this.#lastMs = now
    this.#audioMs += audioMs
    const passedMs = now - this.#startMs
    const figures = `${Math.round(this.#audioMs)} ms of audio in ${Math.round(passedMs)} ms`
    const isMore = this.#audioMs > passedMs + this.#maxAheadMs
    if (this.#hasFault || !(isMore || (passedMs > 2000 && this.#audioMs < 0.7 * passedMs))) return undefined
    this.#hasFault = true
    return `${isMore ? 'more' : 'less'} audio than time was sent: ${figures}`
  }
}

const gapMs = 500
const telephoneRates = [8000, 16_000] as const
/** Rates that are brought down to 16 kHz. */
const wideRates: readonly number[] = [24_000, 48_000]

function resampled(bytes: Buffer, resampler: Resampler): Buffer {
  const samples = new Float32Array(bytes.length >> 1)
  for (let at = 0; at < samples.length; at += 1) samples[at] = bytes.readInt16LE(at * 2)
  const output = resampler.push(samples)
  const whole = Buffer.alloc(output.length * 2)
  for (const [at, sample] of output.entries())
    whole.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sample))), at * 2)
  return whole
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

class FrontServer {
  readonly protocol: Protocol
  readonly options: FrontOptions
  readonly sessions: Session[] = []
  readonly breaches: string[] = []
  readonly faults: Fault[] = []

  constructor(protocol: Protocol, options: FrontOptions) {
    this.protocol = protocol
    this.options = options
  }

  /** Makes the session of a request. Returns undefined if that was refused, by the script or for its key. */
  admit(request: IncomingMessage, refuse: (status: number) => void): Session | undefined {
    const { protocol } = this
    const url = new URL(request.url ?? '/', 'http://front')
    const fault = protocol.earlierFault?.(request, url) ?? this.faults.shift() ?? {}
    const session = new Session(this, request, fault)
    this.sessions.push(session)
    const pathFault = url.pathname === protocol.path ? undefined : `the path is ${url.pathname}`
    const keyFault = protocol.keyFault?.(request, url)
    if (pathFault !== undefined) session.breach(pathFault)
    if (keyFault !== undefined) session.breach(keyFault)
    const status =
      fault.refuseWith ?? (pathFault === undefined ? (keyFault === undefined ? undefined : 401) : 404)
    if (status === undefined) return session
    session.closed(1006)
    refuse(status)
    return undefined
  }
}

export async function startFront(protocol: Protocol, options: FrontOptions): Promise<Front> {
  const front = new FrontServer(protocol, options)
  const server = createServer((request, response) => {
    const refuse = (status: number): void => {
      request.resume()
      const body = JSON.stringify({ error: { message: `refused with ${status}` } })
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
    }
    if (protocol.request === undefined) return refuse(404)
    const session = front.admit(request, refuse)
    if (session === undefined) return
    response.on('close', () => session.closed(1000))
    protocol.request(session, request, response).catch((error: unknown) => {
      session.breach(`the request could not be read: ${String(error)}`)
      response.destroy()
    })
  })
  // Messages of clients are small; a vendor refuses others too.
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 2 ** 20 })
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const session = front.admit(request, (status) =>
      stream.end(
        `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
      ),
    )
    if (session !== undefined)
      sockets.handleUpgrade(request, stream, head, (socket) => session.attach(socket))
  })
  const local: LocalServer = await listenLocally(server)
  const host = new URL(local.url).host
  return {
    url: `${protocol.request === undefined ? 'ws' : 'http'}://${host}${protocol.path}`,
    host,
    sessions: front.sessions,
    breaches: front.breaches,
    fail: (...faults) => void front.faults.push(...faults),
    async close() {
      await local.close()
      for (const session of front.sessions) session.closed(session.code ?? 1006)
    },
  }
}

/** Returns the words without marks and capitals, as recognisers report them unless they are asked for both. */
export function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}' ]/gu, '')
}

/** Returns the check of a header that has a scheme and the key. */
export function schemeFault(scheme: string, key: string): NonNullable<Protocol['keyFault']> {
  return ({ headers: { authorization } }) =>
    authorization === `${scheme}${key}` ? undefined : `the header authorization is not ${scheme}and the key`
}

/** Reads a member of a message that may be anything. */
export function member(message: unknown, name: string): unknown {
  return typeof message === 'object' && message !== null
    ? (message as Record<string, unknown>)[name]
    : undefined
}

/** Returns a member as a sentence can show it. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'missing')
}
