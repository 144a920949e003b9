// A recogniser with a vendor that a test plays: the vendor's WebSockets on loopback, and a caller whose time the test moves.
import { createServer, type IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { WebSocketServer, type WebSocket } from 'ws'
import type {
  RecognitionEnd,
  RecognitionEvent,
  RecognitionOrder,
  SpeechResult,
} from '../../src/contracts/recognition.ts'
import { AudioRing, createRing } from '../../src/lib/audio/audio-ring.ts'
import { ResamplerTables } from '../../src/lib/audio/resampler.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createNames } from '../../src/network/create-names.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { createGrpc } from '../../src/outgoing/create-grpc.ts'
import { createSockets } from '../../src/outgoing/create-sockets.ts'
import type { VendorOfEars } from '../../src/streams/recognition/dialect.ts'
import { createRecogniser } from '../../src/streams/recognition/create-recogniser.ts'
import type { VendorSocketOptions } from '../../src/streams/recognition/vendor-socket.ts'
import { listenLocally } from './local-http.ts'
import { Inbox, until } from './wait.ts'

/** One WebSocket of the vendor. */
export class VendorLine {
  readonly request: IncomingMessage
  readonly socket: WebSocket
  /** All messages in their order: texts parsed, audio as it came. */
  readonly received: (Readonly<Record<string, unknown>> | Buffer)[] = []
  readonly closed: Promise<number>
  /** Texts as they came, and binary messages. */
  readonly rawTexts: string[] = []
  readonly binary: Buffer[] = []

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket
    this.request = request
    this.closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => undefined)
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.binary.push(data)
      else this.rawTexts.push(data.toString())
      this.received.push(isBinary ? data : parsed(data.toString()))
    })
  }

  get query(): Readonly<Record<string, string>> {
    return Object.fromEntries(new URL(this.request.url ?? '', 'http://vendor').searchParams)
  }

  get texts(): readonly Readonly<Record<string, unknown>>[] {
    return this.received.flatMap((message) => (Buffer.isBuffer(message) ? [] : [message]))
  }

  get audio(): Buffer {
    return Buffer.concat(this.received.filter((message) => Buffer.isBuffer(message)))
  }

  /** The numbers of the frames of a caller at 8 kHz. */
  get frames(): readonly number[] {
    return framesIn(this.audio)
  }

  say(message: object | string | Buffer): void {
    this.socket.send(
      typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
    )
  }
}

/** Not all texts are JSON: those of some vendors have headers, or are empty. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return { text }
  }
}

const frameBytes = 320

export function framesIn(audio: Buffer): readonly number[] {
  return Array.from({ length: Math.floor(audio.length / frameBytes) }, (_, at) => {
    const sample = audio.readInt16LE(at * frameBytes)
    return sample >= voice ? sample - voice : sample
  })
}

export interface VendorServer {
  /** ws://127.0.0.1:port */
  readonly url: string
  readonly lines: Inbox<VendorLine>
  close(): Promise<void>
}

export interface VendorServerOptions {
  readonly onLine?: (line: VendorLine) => void
  readonly refuse?: (request: IncomingMessage) => number | undefined
  /** The body of what `refuse` refuses. */
  readonly refusal?: object
  /** Responds to no request. */
  readonly hangs?: boolean
  /** Answers requests that are no WebSockets: the status, and the body. */
  readonly respond?: (request: IncomingMessage, body: Buffer) => readonly [number, object | string]
}

export async function serveVendor({
  onLine,
  refuse,
  refusal,
  respond,
  hangs = false,
}: VendorServerOptions = {}): Promise<VendorServer> {
  const lines = new Inbox<VendorLine>()
  const http = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (hangs) return
      const [status, body] = respond?.(request, Buffer.concat(chunks)) ?? [404, {}]
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  const sockets = new WebSocketServer({ noServer: true })
  http.on('upgrade', (request, stream, head) => {
    const status = refuse?.(request)
    if (status !== undefined) {
      const body = refusal === undefined ? '' : JSON.stringify(refusal)
      const head = `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`
      return void stream.end(`${head}\r\n\r\n${body}`)
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const line = new VendorLine(socket, request)
      lines.push(line)
      onLine?.(line)
    })
  })
  const server = await listenLocally(http)
  return {
    url: server.url.replace('http', 'ws'),
    lines,
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      await server.close()
    },
  }
}

const loopback = ['127.0.0.0/8', '::1/128']
const resolve = createNames({ clock: systemClock }).lookup
const sockets = createSockets({ allow: loopback, resolve, clock: systemClock })
const grpc = createGrpc({ allow: loopback, resolve, clock: systemClock })
const outgoing = createOutgoing({ allow: loopback, log: silentLogger })
const tables = new ResamplerTables()
const voice = 4000
const frameMs = 20

export const usualOrder = {
  vendor: 'deepgram',
  wantsPartials: true,
  language: 'en-US',
  hints: [],
  altLanguages: [],
  settings: {},
  vendorOptions: {},
} as const

/** The methods of a recogniser that tests call. */
export interface Recogniser {
  open(): void
  beat(): void
  setMode(mode: 'on' | 'silent' | 'paused'): void
  finalize(): void
  close(): void
  cut(): void
}

export interface HeardCallOptions extends Partial<Omit<RecognitionOrder, 'side'>> {
  readonly rate?: 8000 | 16_000
}

/** A caller with a number in each frame of 20 ms, and the recogniser that hears it. */
export class HeardCall {
  readonly events = new Inbox<RecognitionEvent>()
  readonly recogniser: Recogniser
  readonly #ring: AudioRing
  readonly #samples: number
  #nowMs = 1000
  /** The frames so far. */
  count = 0

  constructor(vendor: VendorOfEars, { rate = 8000, ...order }: HeardCallOptions = {}) {
    this.#samples = rate / 50
    const ring = createRing({ samples: this.#samples, frames: 150 })
    this.#ring = new AudioRing(ring.memory)
    const whole: RecognitionOrder = { ...usualOrder, ...order, side: { ring, rate, channel: 1 } }
    const options: VendorSocketOptions = {
      vendor,
      sockets,
      grpc,
      outgoing,
      tables,
      nowMs: () => this.#nowMs,
      onEvent: (event) => this.events.push(event),
    }
    this.recogniser = createRecogniser(whole, options)
    this.recogniser.open()
  }

  /** Speaks for so long. */
  voice(ms: number): Promise<void> {
    return this.#frames(ms, (number) => voice + number)
  }

  /** Speaks as people do, with a short gap in each third of a second. */
  async speech(ms: number): Promise<void> {
    for (let said = 0; said < ms; said += 300) {
      await this.voice(260)
      await this.silence(40)
    }
  }

  silence(ms: number): Promise<void> {
    return this.#frames(ms, (number) => number % 100)
  }

  /** Lets time pass in which no audio comes. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += frameMs) {
      this.#nowMs += frameMs
      this.recogniser.beat()
      await turn()
    }
  }

  /** Plays pieces of 20 ms, of 16-bit samples, little-endian. */
  async play(pieces: readonly Buffer[]): Promise<void> {
    for (const piece of pieces) {
      const samples = Int16Array.from({ length: piece.length / 2 }, (_, at) => piece.readInt16LE(at * 2))
      this.#ring.write(samples)
      this.count += 1
      this.#nowMs += frameMs
      this.recogniser.beat()
      await turn()
    }
  }

  async #frames(ms: number, sampleOf: (number: number) => number): Promise<void> {
    for (let said = 0; said < ms; said += frameMs) {
      this.#ring.write(new Int16Array(this.#samples).fill(sampleOf(this.count)))
      this.count += 1
      this.#nowMs += frameMs
      this.recogniser.beat()
      // The vendor reads what it was sent.
      await turn()
    }
  }

  async opened(): Promise<void> {
    await this.events.next('the opening', ({ type }) => type === 'opened')
  }

  /** The results so far. */
  get heard(): readonly (RecognitionEvent & { readonly type: 'heard' })[] {
    return this.events.items.flatMap((event) => (event.type === 'heard' ? [event] : []))
  }

  /** The words of the finals so far. */
  get finals(): readonly string[] {
    return this.heard.flatMap(({ result }) => (result.is_final ? [wordsOf(result)] : []))
  }

  /** Resolves when the number of results is as given. */
  async results(count: number): Promise<readonly (RecognitionEvent & { readonly type: 'heard' })[]> {
    await until(`${count} results`, () => this.heard.length >= count)
    return this.heard
  }

  async ended(): Promise<RecognitionEnd> {
    const event = await this.events.next('the end', ({ type }) => type === 'ended')
    if (event.type !== 'ended') throw new Error('it is')
    return event.end
  }

  /** Ends the recogniser and waits for its end. */
  async close(): Promise<RecognitionEnd> {
    this.recogniser.close()
    return this.ended()
  }
}

export function wordsOf({ alternatives: [first] }: SpeechResult): string {
  return first?.transcript ?? ''
}

/** Makes calls and vendors for a test, and ends them with it. */
export class VendorStage {
  readonly #ends: (() => Promise<void> | void)[] = []

  async serve(options?: VendorServerOptions): Promise<VendorServer> {
    const served = await serveVendor(options)
    this.#ends.push(() => served.close())
    return served
  }

  call(vendor: VendorOfEars, options: HeardCallOptions = {}): HeardCall {
    const call = new HeardCall(vendor, { vendor: vendor.name, ...options })
    this.#ends.push(() => call.recogniser.cut())
    return call
  }

  /** Ends what was made, the last first. */
  async clear(): Promise<void> {
    for (const end of this.#ends.splice(0).reverse()) await end()
  }
}

/** Returns the line of a vendor with this number, once it is open. */
export function lineOf(vendor: VendorServer, at = 0): Promise<VendorLine> {
  return until(`connection ${at}`, () => vendor.lines.items[at])
}
