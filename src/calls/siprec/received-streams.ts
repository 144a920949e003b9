// The media of a leg by which a recording client calls (RFC 7866 §8.1): two received streams, the voice of the caller
// and that of the called party. Nothing is sent back. To the leg they are one session, whose far end is the caller and
// hears the called party, so that listening, recording and key detection find both voices where they are in any other
// call.
import { AppError } from '../../lib/errors.ts'
import type {
  FarEnd,
  KeyWay,
  Media,
  MediaEvent,
  MediaSession,
  OfferedProtection,
  PlayResult,
  StreamStats,
} from '../../media/media.ts'
import type { Layer, Wiring } from '../../media/wiring.ts'
import { isSending, isSound, joinSdp, labelOf, onlySent, refusedLine, splitSdp } from './recording-sdp.ts'

type Opened = Pick<Media, 'open'>

/** `callerLine` is the index of the caller's stream among the lines of the offer. */
export function receivedMedia(media: Opened, callerLine: number): Opened {
  return {
    async open(options = {}) {
      const caller = await media.open(options)
      const opened = [caller]
      try {
        const called = await media.open({ ...options, near: caller.id })
        opened.push(called)
        const streams = new ReceivedStreams(caller, called, callerLine)
        await streams.wire({ hears: [] })
        return streams
      } catch (error) {
        await Promise.allSettled(opened.map((session) => session.close()))
        throw error
      }
    },
  }
}

// Clients send two lines, and two more for video.
const maxLines = 16

class ReceivedStreams implements MediaSession {
  readonly place = undefined
  readonly #caller: MediaSession
  readonly #called: MediaSession
  readonly #callerLine: number
  /** The indexes of the two streams among the lines of the last offer. */
  #lines: readonly [number, number] | undefined
  #labels: readonly (string | undefined)[] = []
  /** The lines of the last offer that are not in use, by their indexes, as they are refused. */
  #refused: readonly (readonly [line: number, sdp: string])[] = []
  #version = 0
  readonly #heard = new Map<MediaSession, number>()

  constructor(caller: MediaSession, called: MediaSession, callerLine: number) {
    this.#caller = caller
    this.#called = called
    this.#callerLine = callerLine
  }

  get id(): string {
    return this.#caller.id
  }

  get address(): string {
    return this.#caller.address
  }

  get port(): number {
    return this.#caller.port
  }

  face(peer: string): void {
    for (const session of this.#both) session.face(peer)
  }

  async answer(offer: string): Promise<FarEnd & { readonly sdp: string }> {
    const parts = splitSdp(offer)
    const [caller, called] = this.#linesIn(parts)
    const [ofCaller, ofCalled] = [parts[caller], parts[called]]
    if (parts.length > maxLines || ofCaller === undefined || ofCalled === undefined) throw noTwoStreams()
    const { sdp, ...farEnd } = await this.#caller.answer(onlySent(ofCaller))
    const other = await this.#called.answer(onlySent(ofCalled))
    this.#lines = [caller, called]
    this.#labels = parts.map(labelOf)
    this.#refused = parts.flatMap((part, line) =>
      line === caller || line === called ? [] : [[line, refusedLine(part)] as const],
    )
    this.#version += 1
    const answers = new Map([
      [caller, sdp],
      [called, other.sdp],
    ])
    const joined = parts.map((part, line) => ({
      sdp: answers.get(line) ?? refusedLine(part),
      label: this.#labels[line],
    }))
    return { ...farEnd, ...held([ofCaller, ofCalled]), sdp: joinSdp(joined, { version: this.#version }) }
  }

  async offer(protection?: OfferedProtection): Promise<string> {
    const [caller, called] = this.#lines ?? [0, 1]
    const offers = [await this.#caller.offer(protection), await this.#called.offer(protection)]
    this.#version += 1
    const parts = offers.map((sdp, at) => {
      const line = at === 0 ? caller : called
      return { sdp, label: this.#labels[line] ?? String(line + 1), line }
    })
    // RFC 3264 §8: no line disappears from an offer.
    const unused = this.#refused.map(([line, sdp]) => ({ sdp, label: this.#labels[line], line }))
    const joined = [...parts, ...unused].toSorted((a, b) => a.line - b.line)
    return joinSdp(joined, { direction: 'recvonly', version: this.#version })
  }

  settle(): void {
    for (const one of [this.#caller, this.#called]) one.settle()
  }

  async acceptAnswer(sdp: string): Promise<FarEnd> {
    const parts = splitSdp(sdp)
    const [caller, called] = this.#lines ?? [0, 1]
    const [ofCaller, ofCalled] = [parts[caller], parts[called]]
    if (ofCaller === undefined || ofCalled === undefined) throw noTwoStreams()
    const farEnd = await this.#caller.acceptAnswer(onlySent(ofCaller))
    await this.#called.acceptAnswer(onlySent(ofCalled))
    this.#lines ??= [caller, called]
    return { ...farEnd, ...held([ofCaller, ofCalled]) }
  }

  reoffer(): string {
    throw new AppError('media_not_acceptable', 'the streams of a recording client cannot be redirected')
  }

  withdraw(): void {
    // No offer is made within the call.
  }

  async goPast(): Promise<void> {
    // The streams never bypass the platform.
  }

  live(): void {
    for (const session of this.#both) session.live()
  }

  doubt(): void {
    for (const session of this.#both) session.doubt()
  }

  /** Does nothing, as the client plays no audio. */
  async play(): Promise<PlayResult> {
    return { reason: 'completed', playedMs: 0 }
  }

  async wire(wiring: Wiring): Promise<void> {
    const called: Layer = { id: 'called', from: { kind: 'session', id: this.#called.id }, gainUnderPlayDb: 0 }
    await this.#caller.wire({ ...wiring, hears: [...wiring.hears, called], tapsUnsent: true })
  }

  goBy(keyWay: KeyWay): void {
    for (const session of this.#both) session.goBy(keyWay)
  }

  async sendKeys(): Promise<void> {
    throw new AppError('media_not_acceptable', 'a recording client takes no keys')
  }

  onEvent(listener: (event: MediaEvent) => void): void {
    this.#caller.onEvent((event) => {
      if (event.type === 'timeout') void this.#silent(this.#called, event, listener)
      else listener(event)
    })
    this.#called.onEvent((event) => {
      if (event.type === 'timeout') void this.#silent(this.#caller, event, listener)
      else if (ofEither.has(event.type)) listener(event)
    })
  }

  async stats(): Promise<StreamStats> {
    return sum(await this.#caller.stats(), await this.#called.stats())
  }

  async close(): Promise<StreamStats> {
    const [caller, called] = await Promise.all([this.#caller.close(), this.#called.close()])
    return sum(caller, called)
  }

  get #both(): readonly [MediaSession, MediaSession] {
    return [this.#caller, this.#called]
  }

  /** Returns the present lines. A line that the client has removed gives its place to one that it has added. */
  #linesIn(parts: readonly string[]): readonly [number, number] {
    if (this.#lines === undefined) return this.#choose(parts)
    const [caller, called] = this.#lines
    const isKept = (line: number): boolean => isSound(parts[line] ?? '')
    const added = parts.flatMap((part, line) =>
      isSound(part) && line !== caller && line !== called ? [line] : [],
    )
    const placeOf = (line: number): number => (isKept(line) ? line : (added.shift() ?? line))
    return [placeOf(caller), placeOf(called)]
  }

  #choose(parts: readonly string[]): readonly [number, number] {
    const sound = parts.flatMap((part, line) => (isSound(part) ? [line] : []))
    const caller = sound.includes(this.#callerLine) ? this.#callerLine : sound[0]
    const called = sound.find((line) => line !== caller)
    if (caller === undefined || called === undefined) throw noTwoStreams()
    return [caller, called]
  }

  /**
   * Reports silence only if the other stream has received nothing either since the last check: one party may be silent
   * for long.
   */
  async #silent(
    other: MediaSession,
    event: MediaEvent,
    listener: (event: MediaEvent) => void,
  ): Promise<void> {
    const received = await other.stats().then(
      ({ packetsReceived }) => packetsReceived,
      () => 0,
    )
    const before = this.#heard.get(other) ?? 0
    this.#heard.set(other, received)
    if (received === before) listener(event)
  }
}

/** Events of the second stream that are also events of the leg. */
const ofEither: ReadonlySet<MediaEvent['type']> = new Set(['lost', 'path-lost', 'ignored', 'forged'])

/** Returns isHeld if neither stream is sent: the client has paused. A recorded call may be silent for any time. */
function held(parts: readonly string[]): Pick<FarEnd, 'isHeld' | 'owesMedia'> {
  return { isHeld: !parts.some(isSending), owesMedia: false }
}

function noTwoStreams(): AppError {
  return new AppError('media_not_acceptable', 'a recording session has two streams of sound')
}

function sum(a: StreamStats, b: StreamStats): StreamStats {
  return {
    ...a,
    packetsSent: a.packetsSent + b.packetsSent,
    packetsReceived: a.packetsReceived + b.packetsReceived,
    packetsLost: a.packetsLost + b.packetsLost,
    packetsIgnored: a.packetsIgnored + b.packetsIgnored,
    packetsNotAgreed: a.packetsNotAgreed + b.packetsNotAgreed,
    jitterMs: Math.max(a.jitterMs, b.jitterMs),
  }
}
