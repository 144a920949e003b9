// One stream in its thread: the ring goes out as binary frames, and the server's audio to its playout. A server that is
// too slow loses frames.
import { AppError } from '../lib/errors.ts'
import type { Socket, Sockets } from '../outgoing/sockets.ts'
import { telephoneRate, type ResamplerTables } from '../lib/audio/resampler.ts'
import { WireDecoder } from './pcm.ts'
import { beep } from './beep.ts'
import { Given } from './given.ts'
import { Hearing, type HearingLimits } from './hearing.ts'
import { maxClips, maxMarks, Playout, type PlayoutEvent } from './playout.ts'
import { Rates } from './rates.ts'
import { toReport } from './reports.ts'
import { readMessage, type PlayoutMessage, type ServerMessage } from './server-message.ts'
import type { StreamEnd, StreamEvent, StreamMode, StreamOrder } from '../contracts/audio-stream.ts'

const protocols = ['audio.drachtio.org', 'audio.jambonz.org']
const subject = 'the audio server'
const handshakeMs = 5000
const maxRedirects = 2
/** Three minutes of a clip at 8 kHz, in base64. */
const maxMessageBytes = 4 * 1024 * 1024
// Audio that waited a second for a slow server is too old to be worth hearing, so it is dropped.
const maxBufferedMs = 1000
// A server that sends faster than real time has to wait from the first bound, until the second.
const fullMs = 120_000
// Six seconds: the longest handshake, and the start of the thread.
const maxKeptFrames = 300
const againMs = 110_000

export interface SocketStreamOptions {
  readonly sockets: Sockets
  readonly tables: ResamplerTables
  readonly onEvent: (event: StreamEvent) => void
  readonly limits?: Partial<HearingLimits> | undefined
}

export class SocketStream {
  readonly #order: StreamOrder
  readonly #options: SocketStreamOptions
  readonly #given: Given
  readonly #playout: Playout | undefined
  readonly #decoder: WireDecoder | undefined
  readonly #maxBufferedBytes: number
  readonly #leaving = new AbortController()
  readonly #hearing: Hearing
  readonly #early: (string | Buffer)[] = []
  readonly #rates = new Rates()
  #socket: Socket | undefined
  #mode: StreamMode = 'on'
  #ending: Pick<StreamEnd, 'by' | 'because'> | undefined
  #hasEnded = false
  #isStalled = false
  #isFull = false
  #wasMisunderstood = false
  #isBeeping = false
  #sent = 0
  #lost = 0
  #lostBefore = 0
  /** The frames from before the opening, which are sent with it. */
  #kept: Uint8Array[] = []
  /** The bytes of those frames that a server may still have to take. */
  #behindBytes = 0

  constructor(order: StreamOrder, options: SocketStreamOptions) {
    this.#order = order
    this.#options = options
    const { rate, channels, says } = order
    const { tables } = options
    this.#hearing = new Hearing({
      limits: options.limits,
      nowMs: () => performance.now(),
      take: (message) => this.#hear(message),
      flow: () => this.#flow(),
      exceeded: () => this.#leave({ by: 'failed', because: `${subject} sent more messages than are read` }),
    })
    this.#given = new Given(order, tables)
    this.#maxBufferedBytes = ((rate * channels * 2) / 1000) * maxBufferedMs
    this.#playout = says && new Playout(says.ring.memory, (event) => this.#report(event))
    const streamed = says?.streamedRate
    this.#decoder = streamed === undefined ? undefined : new WireDecoder(streamed, tables)
  }

  open(): void {
    const { url, headers } = this.#order
    this.#options.sockets
      .open({
        url,
        headers,
        protocols,
        subject,
        handshakeMs,
        maxRedirects,
        maxMessageBytes,
        signal: this.#leaving.signal,
        heard: (message) => this.#hearing.hear(message),
        received: (bytes) => this.#hearing.received(bytes),
        controlled: () => this.#hearing.controlled(),
        closed: ({ code, because }) =>
          this.#end({ by: code === 1000 || code === 1005 ? 'server' : 'failed', because }),
      })
      .then(
        (socket) => this.#opened(socket),
        (error: unknown) => {
          const because = error instanceof AppError ? error.message : `${subject} cannot be reached`
          this.#end({ by: 'failed', because })
        },
      )
  }

  send(text: string): void {
    this.#say(text)
  }

  setMode(mode: StreamMode): void {
    this.#mode = mode
  }

  close(): void {
    this.#leave({ by: 'closed', because: 'the platform closed the socket' })
  }

  /** Cuts the connection, as the thread ends. */
  cut(): void {
    this.#socket?.cut()
    this.#leaving.abort()
  }

  beat(): void {
    this.#give()
    this.#playout?.beat()
    this.#hearing.beat()
    if (this.#isFull && (this.#playout?.waitingMs ?? 0) < againMs) {
      this.#isFull = false
      this.#flow()
    }
  }

  #flow(): void {
    if (this.#isFull || this.#hearing.isHeld) this.#socket?.pause()
    else this.#socket?.resume()
  }

  #beep(): void {
    this.#isBeeping = true
    const decoder = new WireDecoder(telephoneRate, this.#options.tables)
    this.#playout?.play({ bytes: beep(), rate: telephoneRate, decoder }, { id: undefined, isQueued: true })
  }

  #opened(socket: Socket): void {
    this.#socket = socket
    if (this.#ending !== undefined) return socket.close(1000)
    socket.send(this.#order.hello)
    this.#sendKept(socket)
    this.#options.onEvent({ type: 'opened' })
    if (this.#order.says?.beeps === true) this.#beep()
    for (const message of this.#early.splice(0)) this.#hear(message)
    this.#flow()
  }

  /** Sends all frames that are ready. */
  #give(): void {
    const socket = this.#socket
    while (this.#given.take()) {
      if (this.#mode === 'paused') continue
      const bytes = this.#given.octets(this.#mode === 'silent')
      if (socket === undefined) {
        this.#keep(bytes)
        continue
      }
      if (socket.bufferedBytes <= this.#maxBufferedBytes) this.#behindBytes = 0
      if (socket.bufferedBytes > this.#maxBufferedBytes + this.#behindBytes) {
        this.#lost += 1
        this.#noteStall(true)
      } else {
        socket.send(bytes)
        this.#sent += 1
      }
    }
    if (this.#isStalled && (socket?.bufferedBytes ?? 0) === 0) this.#noteStall(false)
  }

  /** Keeps a frame until the socket is open: the thread starts with the first stream, and a server takes its time. */
  #keep(bytes: Uint8Array): void {
    if (this.#hasEnded) return
    // A copy, since the memory of the frame is used again.
    this.#kept.push(Uint8Array.from(bytes))
    if (this.#kept.length <= maxKeptFrames) return
    this.#kept.shift()
    this.#lost += 1
  }

  #sendKept(socket: Socket): void {
    for (const bytes of this.#kept.splice(0)) {
      socket.send(bytes)
      this.#sent += 1
      this.#behindBytes += bytes.length
    }
  }

  #noteStall(isStalled: boolean): void {
    if (isStalled === this.#isStalled) return
    this.#isStalled = isStalled
    if (isStalled) return this.#options.onEvent({ type: 'stalled' })
    this.#options.onEvent({ type: 'recovered', lost_frames: this.#lost - this.#lostBefore })
    this.#lostBefore = this.#lost
  }

  #hear(message: string | Buffer): void {
    if (this.#ending !== undefined) return
    // A server that sends immediately may be heard before the socket has been returned.
    if (this.#socket === undefined) return void this.#early.push(message)
    if (typeof message === 'string') this.#follow(readMessage(message))
    else this.#listen(message)
  }

  #listen(bytes: Buffer): void {
    const rate = this.#order.says?.streamedRate
    if (rate === undefined || this.#decoder === undefined || this.#playout === undefined)
      return this.#misunderstood(
        'it sent binary frames, which only bidirectionalAudio.streaming lets a call hear',
      )
    this.#playout.push({ bytes, rate, decoder: this.#decoder })
    if (this.#isFull || this.#playout.waitingMs < fullMs) return
    this.#isFull = true
    this.#flow()
  }

  #follow(message: ServerMessage): void {
    switch (message.type) {
      case 'ignored':
        return undefined
      case 'misunderstood':
        return this.#misunderstood(message.because)
      case 'disconnect':
        return this.#leave({ by: 'disconnect', because: `${subject} asked for the end` })
      case 'playAudio':
      case 'killAudio':
      case 'mark':
      case 'clearMarks':
        return this.#speak(message)
      default:
        return message satisfies never
    }
  }

  #speak(message: PlayoutMessage): void {
    if (this.#playout === undefined || this.#order.says?.isOneWay === true)
      return this.#misunderstood(`it sent ${message.type}, and bidirectionalAudio is off`)
    const refused = this.#direct(message, this.#playout)
    if (refused !== undefined) this.#misunderstood(refused)
  }

  /** Carries out a message. Returns why it has no effect, or undefined. */
  #direct(message: PlayoutMessage, playout: Playout): string | undefined {
    switch (message.type) {
      case 'playAudio': {
        const { bytes, rate, ...more } = message
        this.#hearing.received(this.#rates.bytesOf(rate))
        const decoder = new WireDecoder(rate, this.#options.tables)
        const isTaken = playout.play({ bytes, rate, decoder }, more)
        return isTaken ? undefined : `${maxClips} clips wait, which is the maximum`
      }
      case 'mark':
        return playout.mark(message.name) ? undefined : `${maxMarks} marks wait, which is the maximum`
      case 'killAudio':
        playout.kill()
        return undefined
      case 'clearMarks':
        playout.clearMarks()
        return undefined
      default:
        return message satisfies never
    }
  }

  /** The frames lost because of the server, and because of this thread when it is late. */
  get #lostInAll(): number {
    return this.#socket === undefined ? 0 : this.#lost + this.#given.lost
  }

  #misunderstood(because: string): void {
    if (this.#wasMisunderstood) return
    this.#wasMisunderstood = true
    this.#options.onEvent({ type: 'misunderstood', because })
  }

  #report(event: PlayoutEvent): void {
    // The beep is not a clip of the server.
    if (event.type === 'done' && this.#isBeeping) this.#isBeeping = false
    else this.#say(toReport(event))
  }

  /** Sends a text, or drops it if the server is too slow. */
  #say(text: string): void {
    if (this.#socket !== undefined && this.#socket.bufferedBytes <= this.#maxBufferedBytes + text.length)
      this.#socket.send(text)
  }

  #leave(ending: Pick<StreamEnd, 'by' | 'because'>): void {
    if (this.#ending !== undefined || this.#hasEnded) return
    this.#ending = ending
    this.#hearing.end()
    if (this.#socket === undefined) return this.#leaving.abort(new Error('closed'))
    this.#socket.resume()
    this.#socket.close(ending.by === 'failed' ? 1008 : 1000)
    this.#end(ending)
  }

  #end(ending: Pick<StreamEnd, 'by' | 'because'>): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#kept = []
    this.#ending ??= ending
    const figures = {
      sent_frames: this.#sent,
      lost_frames: this.#lostInAll,
      heard_ms: this.#playout?.heardMs ?? 0,
    }
    this.#options.onEvent({ type: 'ended', end: { ...this.#ending, figures } })
  }
}
