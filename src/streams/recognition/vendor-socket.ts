// A recogniser over the WebSocket of a vendor, in the thread of streams. A connection that breaks is replaced: what was
// said since the last final is sent again, so that a word that was cut is not lost.
import { AppError } from '../../lib/errors.ts'
import { UnreadableJson } from '../../lib/read-json.ts'
import { memberOf, textOf } from '../../lib/members.ts'
import type { ResamplerTables } from '../../lib/audio/resampler.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { Socket, SocketEnd, Sockets } from '../../outgoing/sockets.ts'
import { vendorRefusal } from '../../outgoing/vendor-failure.ts'
import type { RecognitionEnd, RecognitionEvent, RecognitionOrder, Span } from '../../contracts/recognition.ts'
import type { StreamMode } from '../../contracts/audio-stream.ts'
import { Given } from '../given.ts'
import { Hearing, type HearingLimits } from '../hearing.ts'
import type { Dialect, Heard, HeardWords, VendorOfEars } from './dialect.ts'
import { Loudness } from './loudness.ts'
import { toResult } from './result.ts'
import { withoutSecrets } from './secrets.ts'
import { frameMs, SentAudio, type SentPiece } from './sent-audio.ts'

/** The time for a connection, and then for the vendor to begin. */
const handshakeMs = 5000
const maxMessageBytes = 256 * 1024
/** The time before each further connection, as long as none has proved good. */
const againAfterMs = [0, 250, 1000]
/** Connections that broke together are not replaced all at once. */
const spreadMs = 100
/** A connection was good if it lasted this long and brought words, or much longer without any. */
const goodAfterMs = 5000
const goodWithoutWordsMs = 30_000
/** A vendor that cannot be reached for this long is given up: a fallback is better than a caller who waits. */
const outLimitMs = 8000
/** A socket that takes no audio for this long is broken. */
const maxBufferedMs = 3000
/** The audio of one message, except at the end of an utterance. */
const chunkFrames = 3
/** The most of one message, since some vendors refuse longer ones. */
const maxChunkFrames = 12
/** After a voice has ended, each frame is sent at once: the end of an utterance must not wait for others. */
const promptMs = 400
/** A session that the vendor ends sooner counts as a failure. */
const leastSessionMs = 2000
/** A vendor that hears a voice for this long and says nothing has stopped working. */
const deafAfterMs = 8000
/** The time for a last final after the end. */
const lastFinalMs = 1500
/** The frames of replayed audio in a beat: four times as fast as it was said. Some vendors refuse faster audio. */
const replayFrames = 4
/** The audio that waits for a connection. */
const maxWaitingMs = 10_000
/** A voice that began so shortly before a final is not in it. */
const nextVoiceMs = 1500
/** A pause in a voice is shorter. */
const voiceGapMs = 300

export interface VendorSocketOptions {
  readonly vendor: VendorOfEars
  readonly sockets: Sockets
  /** Opens calls of gRPC as if they were sockets. */
  readonly grpc: Sockets
  readonly outgoing: Outgoing
  readonly tables: ResamplerTables
  readonly onEvent: (event: RecognitionEvent) => void
  readonly limits?: Partial<HearingLimits> | undefined
  readonly nowMs?: () => number
  /** Random numbers from 0 up to 1. Left out, Math.random. */
  readonly random?: () => number
}

/** One connection, with what is to be sent on it. */
interface Line {
  readonly dialect: Dialect
  readonly socket: Socket
  readonly hearing: Hearing
  readonly openedMs: number
  isReady: boolean
  hasWords: boolean
}

/** Words with their time in the call, whatever becomes of their connection. */
interface Carried {
  readonly words: HeardWords
  readonly span: Span | undefined
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
  #line: Line | undefined
  #mode: StreamMode = 'on'
  #failures = 0
  /** The thread's clock when there was no connection any more. */
  #outSinceMs: number
  #waiting: SentPiece[] = []
  /** Final pieces of an utterance that was cut by the end of a connection. */
  #carried: Carried | undefined
  /** The last words that may still have changed. */
  #partial: Carried | undefined
  #again: NodeJS.Timeout | undefined
  #closing: NodeJS.Timeout | undefined
  /** True if the connection broke while paused: another follows when there is something to hear. */
  #isResting = false
  #isClosing = false
  #hasEnded = false
  #wasOpened = false
  #isVoiced = false
  /** Milliseconds of the thread's clock at the last frame with a voice, and when anything was last sent. */
  #voicedMs = -Infinity
  #sentMs: number
  /** Milliseconds of the ring at which the last voice began. */
  #onsetMs = 0
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
    this.#outSinceMs = this.#beganMs
  }

  open(): void {
    void this.#connect()
  }

  setMode(mode: StreamMode): void {
    // The vendor hears no silence while paused, by which it would find the end of what was said.
    if (mode === 'paused' && this.#mode !== 'paused') {
      this.#take()
      this.finalize()
    }
    this.#mode = mode
    if (mode === 'paused' || !this.#isResting) return
    this.#isResting = false
    this.#outSinceMs = this.#nowMs()
    void this.#connect()
  }

  finalize(): void {
    const line = this.#line
    if (line?.isReady !== true || this.#isClosing) return
    this.#flushAll(line)
    const frame = line.dialect.finalize?.()
    if (frame !== undefined) line.socket.send(frame)
  }

  close(): void {
    if (this.#isClosing || this.#hasEnded) return
    this.#isClosing = true
    const line = this.#line
    if (line?.isReady !== true) return this.#endClosed()
    this.#take()
    this.#flushAll(line)
    const frames = line.dialect.end()
    for (const frame of frames) line.socket.send(frame)
    if (frames.length === 0) return this.#endClosed()
    this.#closing = setTimeout(() => this.#endClosed(), lastFinalMs)
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
    const line = this.#line
    line?.hearing.beat()
    if (line === undefined || line !== this.#line || this.#isClosing) return
    const nowMs = this.#nowMs()
    if (!line.isReady) {
      if (nowMs - line.openedMs > handshakeMs) this.#broken('it did not begin')
      return
    }
    const { keepAlive, maxSessionMs = Infinity } = line.dialect
    this.#send(line)
    if (line !== this.#line) return
    if (keepAlive !== undefined && nowMs - this.#sentMs >= keepAlive.everyMs) {
      line.socket.send(keepAlive.frame)
      this.#sentMs = nowMs
    }
    // Once: it may be music that it hears, in which there are no words.
    if (this.#unheardMs > deafAfterMs && !this.#wasDeaf) {
      this.#wasDeaf = true
      return this.#broken('it hears a voice and says nothing')
    }
    const isQuiet = nowMs - this.#voicedMs > promptMs
    if (nowMs - line.openedMs > maxSessionMs && isQuiet) this.#replace(line)
  }

  async #connect(): Promise<void> {
    const { vendor, sockets, grpc, outgoing, tables } = this.#options
    const subject = vendor.name
    let socket: Socket | undefined
    let line: Line | undefined
    let resumes = false
    const hearing = new Hearing({
      limits: this.#options.limits,
      nowMs: this.#nowMs,
      // A connection that was replaced may still bring messages, which have the times of another one.
      take: (message) => void (line !== undefined && line === this.#line && this.#hear(message, line)),
      flow: () => (hearing.isHeld ? socket?.pause() : socket?.resume()),
      exceeded: () =>
        void (
          line !== undefined &&
          line === this.#line &&
          this.#failed(`${subject} sent more messages than are read`, true)
        ),
    })
    try {
      const dialect = vendor.dialectOf(this.#order)
      resumes = dialect.resumesAtMs !== undefined
      this.#listenAt(dialect.rate, tables)
      const address = typeof dialect.url === 'string' ? dialect.url : await dialect.url(outgoing)
      const { url, headers } = typeof address === 'string' ? { url: address, headers: {} } : address
      if (this.#isClosing || this.#hasEnded) return
      socket = await (dialect.isGrpc === true ? grpc : sockets).open({
        url,
        headers: { ...dialect.headers, ...headers },
        protocols: dialect.protocols ?? [],
        subject,
        handshakeMs,
        maxRedirects: 0,
        maxMessageBytes,
        signal: this.#leaving.signal,
        heard: (message) => hearing.hear(message),
        received: (bytes) => hearing.received(bytes),
        controlled: () => hearing.controlled(),
        closed: (end) => void (line !== undefined && line === this.#line && this.#lineClosed(line, end)),
      })
      const isReady = dialect.waits !== true
      line = { dialect, socket, hearing, isReady, openedMs: this.#nowMs(), hasWords: false }
      this.#opened(line)
    } catch (error) {
      if (this.#hasEnded) return
      this.#failed(reasonOf(error, subject), isRefusal(error) && !resumes)
    }
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
    const { resumesAtMs } = line.dialect
    this.#waiting = [...(resumesAtMs === undefined ? this.#audio.replay() : this.#audio.resume(resumesAtMs))]
    this.#sentMs = this.#nowMs()
  }

  /** Reads the ring, also while there is no connection. */
  #take(): void {
    const given = this.#given
    if (given === undefined) return
    while (given.take()) {
      if (this.#mode === 'paused') {
        this.#isVoiced = false
        this.#audio.skip()
        continue
      }
      const piece = this.#audio.take(given.octets(this.#mode === 'silent'))
      this.#waiting.push(piece)
      // Without a connection, only what would be replayed is kept.
      if (this.#waiting.length > maxWaitingMs / frameMs) this.#waiting.shift()
      this.#noteVoice(piece)
    }
  }

  #noteVoice({ octets, atMs }: SentPiece): void {
    this.#isVoiced = this.#loudness.isVoiced(octets)
    if (!this.#isVoiced) return
    const nowMs = this.#nowMs()
    if (nowMs - this.#voicedMs > voiceGapMs) this.#onsetMs = atMs
    this.#voicedMs = nowMs
    this.#unheardMs += frameMs
  }

  #send(line: Line): void {
    if (line.socket.bufferedBytes > (this.#rate * 2 * maxBufferedMs) / 1000)
      return this.#broken('it takes no audio')
    const isPrompt = !this.#isVoiced && this.#nowMs() - this.#voicedMs < promptMs
    const wanted = Math.max(isPrompt ? 1 : chunkFrames, leastFrames(line))
    if (this.#waiting.length >= wanted) this.#flush(line, Math.max(replayFrames, wanted))
  }

  /** Sends all audio that waits. If the vendor refuses short messages, silence fills up the last one. */
  #flushAll(line: Line): void {
    const least = leastFrames(line)
    while (this.#waiting.length > 0) {
      // The rest must not be too short for another message.
      const rest = this.#waiting.length - maxChunkFrames
      this.#flush(line, rest > 0 && rest < least ? maxChunkFrames - least : maxChunkFrames, least)
    }
  }

  /** Sends frames that wait in one message. */
  #flush(line: Line, most: number, least = 0): void {
    const pieces = this.#waiting.splice(0, most)
    const [first] = pieces
    if (first === undefined) return
    for (const piece of pieces) this.#audio.sent(piece)
    const parts = pieces.map(({ octets }) => octets)
    for (let count = parts.length; count < least; count += 1) {
      parts.push(new Uint8Array(first.octets.length))
      this.#audio.padded()
    }
    const octets = Buffer.concat(parts)
    line.socket.send(line.dialect.encode?.(octets) ?? octets)
    this.#sentMs = this.#nowMs()
  }

  #hear(message: string | Buffer, line: Line): void {
    let heard: readonly Heard[]
    try {
      heard = line.dialect.hear(message)
    } catch (error) {
      // Also for a fault of this program: other calls share the thread.
      const fault = error instanceof UnreadableJson ? error.message : 'cannot be understood'
      return this.#failed(`${this.#options.vendor.name} sent a message that ${fault}`, false)
    }
    for (const one of heard) if (line === this.#line) this.#follow(one, line)
  }

  #follow(heard: Heard, line: Line): void {
    switch (heard.type) {
      case 'ready':
        line.isReady = true
        return undefined
      case 'words':
        line.hasWords = true
        return this.#words(heard)
      case 'event':
        this.#unheardMs = 0
        return this.#options.onEvent({ type: 'vendor', event: heard.event })
      case 'done':
        if (this.#isClosing) this.#endClosed()
        return undefined
      case 'over':
        return this.#sessionOver(line)
      case 'failed':
        return this.#failed(`${this.#options.vendor.name}: ${heard.because}`, heard.isFinal)
      default:
        return heard satisfies never
    }
  }

  #words(words: HeardWords): void {
    this.#unheardMs = 0
    this.#wasDeaf = false
    if (words.isFinal) this.#settle(words)
    const hasText = words.text.trim() !== ''
    const carried = this.#carried
    if (!hasText && (words.isFinal ? carried === undefined : words.turn === undefined)) return
    const said: Carried = {
      words: carried === undefined ? words : continued(carried.words, words),
      span: spanOver(carried?.span, this.#spanOf(words)),
    }
    if (words.isFinal) this.#carried = undefined
    this.#partial = words.isFinal ? undefined : said
    if (words.isFinal || this.#order.wantsPartials || words.turn !== undefined) this.#report(said)
  }

  #report({ words, span }: Carried): void {
    const latency_ms = words.isFinal
      ? Math.max(0, Math.round(this.#nowMs() - Math.max(this.#voicedMs, this.#beganMs)))
      : undefined
    const { turn } = words
    this.#options.onEvent({ type: 'heard', result: toResult(words, this.#order), span, turn, latency_ms })
  }

  /** Notes what need not be sent again. */
  #settle({ endMs }: HeardWords): void {
    if (endMs !== undefined) return this.#audio.settle(this.#audio.timeOf(endMs))
    const { atMs } = this.#audio
    // Without a time: all that was said, but not what the caller has only begun to say.
    const isNext = this.#nowMs() - this.#voicedMs < voiceGapMs && atMs - this.#onsetMs < nextVoiceMs
    this.#audio.settle(isNext ? this.#onsetMs : atMs)
  }

  #spanOf({ startMs, endMs }: HeardWords): Span | undefined {
    if (startMs === undefined || endMs === undefined) return undefined
    return { startMs: this.#audio.timeOf(startMs), endMs: this.#audio.timeOf(endMs) }
  }

  #lineClosed(line: Line, { code, because }: SocketEnd): void {
    const refused = line.dialect.refusedBy?.(code)
    this.#failed(refused ?? because, refused !== undefined)
  }

  #hangUp(line: Line): void {
    const lastedMs = this.#nowMs() - line.openedMs
    this.#socketMs += lastedMs
    if (lastedMs > (line.hasWords ? goodAfterMs : goodWithoutWordsMs)) this.#failures = 0
    this.#line = undefined
    this.#outSinceMs = this.#nowMs()
    this.#carry(line)
  }

  /** Keeps the final pieces of an utterance that goes on over another connection. */
  #carry({ dialect }: Line): void {
    const rest = dialect.rest?.()
    if (rest === undefined) return
    this.#settle(rest)
    const span = spanOver(this.#carried?.span, this.#spanOf(rest))
    const words = this.#carried === undefined ? rest : continued(this.#carried.words, rest)
    this.#carried = { words, span }
  }

  #sessionOver(line: Line): void {
    if (this.#isClosing) return this.#endClosed()
    if (this.#nowMs() - line.openedMs > leastSessionMs) this.#replace(line)
    else this.#broken('it ends each session at once')
  }

  /** Ends a connection that was to end. */
  #replace(line: Line): void {
    this.#hangUp(line)
    line.socket.close(1000)
    void this.#connect()
  }

  #broken(because: string): void {
    this.#failed(`${this.#options.vendor.name}: ${because}`, false)
  }

  /** Gives up this connection, and tries another unless it would fail, too. */
  #failed(because: string, isFinal: boolean): void {
    if (this.#hasEnded) return
    const line = this.#line
    if (line !== undefined) {
      this.#hangUp(line)
      line.socket.cut()
    }
    if (this.#isClosing) return this.#endClosed()
    const shown = withoutSecrets(because, this.#order)
    if (this.#mode === 'paused' && !isFinal) {
      // A vendor may close a connection without audio, and would close the next, too.
      this.#isResting = true
      return this.#options.onEvent({ type: 'reconnecting', because: shown })
    }
    const waitMs = againAfterMs[this.#failures]
    this.#failures += 1
    const isOut = this.#nowMs() - this.#outSinceMs > outLimitMs
    if (isFinal || isOut || waitMs === undefined) return this.#end({ by: 'failed', because: shown })
    this.#options.onEvent({ type: 'reconnecting', because: shown })
    const { random = Math.random } = this.#options
    this.#again = setTimeout(() => void this.#connect(), waitMs + random() * spreadMs)
  }

  /** Ends with the words that no final has brought. */
  #endClosed(): void {
    if (this.#hasEnded) return
    const line = this.#line
    if (line !== undefined) this.#carry(line)
    const { words, span } = this.#partial ?? this.#carried ?? {}
    if (words !== undefined) this.#report({ words: { ...words, isFinal: true, turn: undefined }, span })
    this.#end({ by: 'closed', because: 'the platform ended it' })
  }

  #end(end: Pick<RecognitionEnd, 'by' | 'because'>): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#again)
    clearTimeout(this.#closing)
    const line = this.#line
    if (line === undefined) this.#leaving.abort(new Error('closed'))
    else {
      this.#hangUp(line)
      line.hearing.end()
      line.socket.close(1000)
    }
    this.#waiting = []
    this.#options.onEvent({
      type: 'ended',
      end: { ...end, audio_ms: this.#audio.totalMs, socket_ms: Math.round(this.#socketMs) },
    })
  }
}

function leastFrames({ dialect }: Line): number {
  return Math.ceil((dialect.minChunkMs ?? 0) / frameMs)
}

/** Puts words before others of the same utterance. */
function continued(former: HeardWords, words: HeardWords): HeardWords {
  if (words.text.trim() === '') return { ...former, isFinal: words.isFinal, turn: words.turn, evt: words.evt }
  return { ...words, text: `${former.text} ${words.text}`, others: [] }
}

function spanOver(former: Span | undefined, span: Span | undefined): Span | undefined {
  return former === undefined || span === undefined
    ? (former ?? span)
    : { startMs: former.startMs, endMs: span.endMs }
}

/** Returns a sentence, for a refused connection with what the vendor says. */
function reasonOf(error: unknown, vendor: string): string {
  if (!(error instanceof AppError)) return `${vendor} cannot be reached`
  const { code, detail, message } = error
  const status = memberOf(detail, 'status')
  const body = memberOf(detail, 'body')
  if (code !== 'hook_bad_status' || typeof status !== 'number' || !Buffer.isBuffer(body)) return message
  const contentType = textOf(detail, 'contentType') ?? ''
  return vendorRefusal('speech_failed', { vendor, status, contentType, body, secrets: [] }).message
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
