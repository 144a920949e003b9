// A recogniser over the WebSocket of a vendor, in the thread of streams. A connection that breaks is replaced: what was
// said since the last final is sent again, so that a word that was cut is not lost.
import { AppError } from '../../lib/errors.ts'
import { UnreadableJson } from '../../lib/read-json.ts'
import { memberOf } from '../../lib/members.ts'
import type { ResamplerTables } from '../../lib/audio/resampler.ts'
import type { Socket, SocketEnd, Sockets } from '../../outgoing/sockets.ts'
import type {
  RecognitionEnd,
  RecognitionEvent,
  RecognitionOrder,
  SpeechResult,
} from '../../contracts/recognition.ts'
import type { StreamMode } from '../../contracts/audio-stream.ts'
import { Given } from '../given.ts'
import { Hearing, type HearingLimits } from '../hearing.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { Loudness } from './loudness.ts'
import { frameMs, SentAudio, type SentPiece } from './sent-audio.ts'

const handshakeMs = 5000
const maxMessageBytes = 256 * 1024
/** The time before each further connection, as long as none has brought words. */
const againAfterMs = [0, 250, 1000]
/** A socket that takes no audio for this long is broken. */
const maxBufferedMs = 3000
/** The audio of one message, except at the end of an utterance. */
const chunkMs = 60
/** After a voice has ended, each frame is sent at once: the end of an utterance must not wait for others. */
const promptMs = 400
/** A vendor that hears a voice for this long and says nothing has stopped working. */
const deafAfterMs = 8000
/** The time for a last final after the end. */
const lastFinalMs = 1500
/** Replayed audio is sent so much faster than it was said. */
const replayFrames = 4
const pausedLater = 10_000

export interface VendorSocketOptions {
  readonly vendor: VendorOfEars
  readonly sockets: Sockets
  readonly tables: ResamplerTables
  readonly onEvent: (event: RecognitionEvent) => void
  readonly limits?: Partial<HearingLimits> | undefined
  readonly nowMs?: () => number
}

/** One connection, with what is to be sent on it. */
interface Line {
  readonly dialect: Dialect
  readonly socket: Socket
  isReady: boolean
  readonly openedMs: number
}

export class VendorSocket {
  readonly #order: RecognitionOrder
  readonly #options: VendorSocketOptions
  readonly #nowMs: () => number
  readonly #leaving = new AbortController()
  readonly #audio = new SentAudio()
  readonly #loudness = new Loudness()
  readonly #beganMs: number
  #given: Given | undefined
  #rate = 0
  #hearing: Hearing
  #line: Line | undefined
  #mode: StreamMode = 'on'
  #failures = 0
  #waiting: SentPiece[] = []
  #again: NodeJS.Timeout | undefined
  #closing: NodeJS.Timeout | undefined
  #isClosing = false
  #hasEnded = false
  #wasOpened = false
  /** Milliseconds of the thread's clock at the last frame with a voice, the last audio sent, the last words. */
  #voicedMs = -Infinity
  #sentMs: number
  /** Milliseconds of voice since the vendor said something. */
  #unheardMs = 0
  #wasDeaf = false
  #socketMs = 0

  constructor(order: RecognitionOrder, options: VendorSocketOptions) {
    this.#order = order
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#beganMs = this.#nowMs()
    this.#sentMs = this.#beganMs
    this.#hearing = this.#newHearing()
  }

  open(): void {
    void this.#connect()
  }

  setMode(mode: StreamMode): void {
    this.#mode = mode
  }

  finalize(): void {
    const line = this.#line
    if (line?.isReady !== true) return
    this.#flush(line)
    const frame = line.dialect.finalize?.()
    if (frame !== undefined) line.socket.send(frame)
  }

  close(): void {
    if (this.#isClosing || this.#hasEnded) return
    this.#isClosing = true
    const line = this.#line
    if (line?.isReady !== true) return this.#end({ by: 'closed', because: 'the platform ended it' })
    this.#flush(line)
    const frames = line.dialect.end()
    for (const frame of frames) line.socket.send(frame)
    if (frames.length === 0) return this.#end({ by: 'closed', because: 'the platform ended it' })
    this.#closing = setTimeout(
      () => this.#end({ by: 'closed', because: 'the platform ended it' }),
      lastFinalMs,
    )
  }

  /** Cuts the connection, as the thread ends. */
  cut(): void {
    this.#hasEnded = true
    clearTimeout(this.#again)
    clearTimeout(this.#closing)
    this.#line?.socket.cut()
    this.#leaving.abort()
  }

  beat(): void {
    this.#take()
    this.#hearing.beat()
    const line = this.#line
    if (line?.isReady !== true || this.#isClosing) return
    this.#send(line)
    const nowMs = this.#nowMs()
    const { keepAlive, maxSessionMs = Infinity } = line.dialect
    if (keepAlive !== undefined && nowMs - this.#sentMs >= keepAlive.everyMs) {
      line.socket.send(keepAlive.frame)
      this.#sentMs = nowMs
    }
    // Once: it may be music that it hears, in which there are no words.
    if (this.#unheardMs > deafAfterMs && !this.#wasDeaf) {
      this.#wasDeaf = true
      return this.#broken('it hears a voice and says nothing', true)
    }
    const isQuiet = nowMs - this.#voicedMs > promptMs
    if (nowMs - line.openedMs > maxSessionMs && isQuiet) this.#broken('its longest session is over', true)
  }

  async #connect(): Promise<void> {
    const { vendor, sockets, tables } = this.#options
    const subject = vendor.name
    let socket: Socket | undefined
    try {
      const dialect = await vendor.dialectOf(this.#order)
      if (this.#isClosing || this.#hasEnded) return
      this.#listenAt(dialect.rate, tables)
      const hearing = this.#newHearing()
      this.#hearing = hearing
      socket = await sockets.open({
        url: dialect.url,
        headers: dialect.headers,
        protocols: dialect.protocols ?? [],
        subject,
        handshakeMs,
        maxRedirects: 0,
        maxMessageBytes,
        signal: this.#leaving.signal,
        heard: (message) => hearing.hear(message),
        received: (bytes) => hearing.received(bytes),
        controlled: () => hearing.controlled(),
        closed: (end) => this.#lineClosed(socket, end),
      })
      this.#opened({ dialect, socket, isReady: dialect.waits !== true, openedMs: this.#nowMs() })
    } catch (error) {
      if (this.#hasEnded) return
      const because = error instanceof AppError ? error.message : `${subject} cannot be reached`
      this.#failed(because, isRefusal(error))
    }
  }

  #newHearing(): Hearing {
    return new Hearing({
      limits: this.#options.limits,
      nowMs: this.#nowMs,
      take: (message) => this.#hear(message),
      flow: () => {
        if (this.#hearing.isHeld) this.#line?.socket.pause()
        else this.#line?.socket.resume()
      },
      exceeded: () => this.#failed(`${this.#options.vendor.name} sent more messages than are read`, true),
    })
  }

  /** Begins to read the ring, at the rate of the first connection: all of a vendor's have the same. */
  #listenAt(rate: number, tables: ResamplerTables): void {
    if (this.#given !== undefined) return
    this.#rate = rate
    this.#given = new Given({ given: this.#order.side.ring, rate, channels: 1 }, tables)
  }

  #opened(line: Line): void {
    if (this.#isClosing || this.#hasEnded) return line.socket.close(1000)
    this.#line = line
    for (const frame of line.dialect.first) line.socket.send(frame)
    if (!this.#wasOpened)
      this.#options.onEvent({ type: 'opened', after_ms: Math.round(this.#nowMs() - this.#beganMs) })
    this.#wasOpened = true
    this.#unheardMs = 0
    // Replayed audio goes out with the beats, faster than it was said, and before what is said now.
    this.#waiting = [...this.#audio.replay()]
    this.#sentMs = this.#nowMs()
  }

  /** Reads the ring, also while there is no connection. */
  #take(): void {
    const given = this.#given
    if (given === undefined) return
    while (given.take()) {
      if (this.#mode === 'paused') {
        this.#flushed()
        this.#audio.skip()
        continue
      }
      // A copy, since the memory of the frame is used again.
      const octets = Uint8Array.from(given.octets(this.#mode === 'silent'))
      const piece = this.#audio.take(octets)
      this.#waiting.push(piece)
      // Without a connection, only what would be replayed is kept.
      if (this.#waiting.length > pausedLater / frameMs) this.#waiting.shift()
      if (!this.#loudness.isVoiced(octets)) continue
      this.#voicedMs = this.#nowMs()
      this.#unheardMs += frameMs
    }
  }

  #flushed(): void {
    const line = this.#line
    if (line?.isReady === true) this.#flush(line)
  }

  #send(line: Line): void {
    if (line.socket.bufferedBytes > (this.#rate * 2 * maxBufferedMs) / 1000)
      return this.#broken('it takes no audio')
    const isPrompt = this.#nowMs() - this.#voicedMs < promptMs
    if (!isPrompt && this.#waiting.length * frameMs < chunkMs) return
    this.#flush(line, replayFrames * (chunkMs / frameMs))
  }

  /** Sends what waits, in one message. */
  #flush(line: Line, most = this.#waiting.length): void {
    const pieces = this.#waiting.splice(0, most)
    if (pieces.length === 0) return
    for (const piece of pieces) this.#audio.sent(piece)
    const octets = Buffer.concat(pieces.map((piece) => piece.octets))
    line.socket.send(line.dialect.encode?.(octets) ?? octets)
    this.#sentMs = this.#nowMs()
  }

  #hear(message: string | Buffer): void {
    const line = this.#line
    if (line === undefined || this.#hasEnded) return
    let heard: readonly Heard[]
    try {
      heard = line.dialect.hear(message)
    } catch (error) {
      if (!(error instanceof UnreadableJson)) throw error
      return this.#failed(`${this.#options.vendor.name} sent a message that ${error.message}`, false)
    }
    for (const one of heard) this.#follow(one, line)
  }

  #follow(heard: Heard, line: Line): void {
    switch (heard.type) {
      case 'ready':
        line.isReady = true
        return undefined
      case 'words':
        return this.#words(heard)
      case 'event':
        this.#unheardMs = 0
        return this.#options.onEvent({ type: 'vendor', event: heard.event })
      case 'done':
        if (this.#isClosing) this.#end({ by: 'closed', because: 'the platform ended it' })
        return undefined
      case 'failed':
        return this.#failed(`${this.#options.vendor.name}: ${heard.because}`, heard.isFinal)
      default:
        return heard satisfies never
    }
  }

  #words(words: HeardWords): void {
    this.#unheardMs = 0
    // A connection that has brought words was good: its end resets the count of failures.
    this.#failures = 0
    this.#wasDeaf = false
    const { isFinal, startMs, endMs, turn } = words
    if (isFinal) this.#audio.settle(endMs === undefined ? this.#audio.atMs : this.#audio.timeOf(endMs))
    if (!isFinal && !this.#order.wantsPartials && turn === undefined) return
    if (words.text.trim() === '' && turn === undefined) return
    const span =
      startMs === undefined || endMs === undefined
        ? undefined
        : { startMs: this.#audio.timeOf(startMs), endMs: this.#audio.timeOf(endMs) }
    const latency_ms = isFinal ? Math.max(0, Math.round(this.#nowMs() - this.#voicedMs)) : undefined
    this.#options.onEvent({ type: 'heard', result: this.#toResult(words), span, turn, latency_ms })
  }

  #toResult(words: HeardWords): SpeechResult {
    const { text: transcript, confidence, more, others = [], language, isFinal } = words
    const { side } = this.#order
    return {
      language_code: language ?? this.#order.language,
      channel_tag: side.channel,
      is_final: isFinal,
      alternatives: [{ transcript, confidence, ...more }, ...others],
      vendor: { name: this.#order.vendor, evt: words.evt },
    }
  }

  #lineClosed(socket: Socket | undefined, { code, because }: SocketEnd): void {
    const line = this.#line
    if (line === undefined || line.socket !== socket) return
    this.#hangUp(line)
    if (this.#hasEnded) return
    if (this.#isClosing) return this.#end({ by: 'closed', because: 'the platform ended it' })
    const refused = line.dialect.refusedBy?.(code)
    this.#failed(refused ?? because, refused !== undefined)
  }

  #hangUp(line: Line): void {
    // Its audio is sent again: what it still says would be heard twice, and at the times of the next connection.
    this.#hearing.end()
    this.#socketMs += this.#nowMs() - line.openedMs
    if (this.#line === line) this.#line = undefined
  }

  /** Gives up this connection. `isPlanned`: it was to end, and nothing failed. */
  #broken(because: string, isPlanned = false): void {
    const line = this.#line
    if (line !== undefined) {
      this.#hangUp(line)
      line.socket.close(1000)
    }
    if (isPlanned) void this.#connect()
    else this.#failed(`${this.#options.vendor.name}: ${because}`, false)
  }

  #failed(because: string, isFinal: boolean): void {
    if (this.#hasEnded) return
    const line = this.#line
    if (line !== undefined) {
      this.#hangUp(line)
      line.socket.cut()
    }
    if (this.#isClosing) return this.#end({ by: 'closed', because: 'the platform ended it' })
    const waitMs = againAfterMs[this.#failures]
    this.#failures += 1
    if (isFinal || waitMs === undefined) return this.#end({ by: 'failed', because })
    this.#options.onEvent({ type: 'reconnecting', because })
    this.#again = setTimeout(() => void this.#connect(), waitMs)
  }

  #end(end: Pick<RecognitionEnd, 'by' | 'because'>): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#again)
    clearTimeout(this.#closing)
    this.#hearing.end()
    const line = this.#line
    if (line === undefined) this.#leaving.abort(new Error('closed'))
    else {
      this.#hangUp(line)
      line.socket.close(1000)
    }
    this.#waiting = []
    this.#options.onEvent({
      type: 'ended',
      end: { ...end, audio_ms: this.#audio.totalMs, socket_ms: Math.round(this.#socketMs) },
    })
  }
}

/** Reports whether the vendor would refuse another connection too. A 429 is a quota, which others of the account use. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof AppError)) return false
  if (error.code === 'hook_bad_status') {
    const status = memberOf(error.detail, 'status')
    return typeof status === 'number' && status >= 400 && status < 500
  }
  return !['hook_unreachable', 'hook_timeout'].includes(error.code)
}
