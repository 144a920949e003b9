// The path of the media of a bridge: through the platform, or directly from far end to far end. Sound that the platform
// plays, a wait for keys, a hold and the end of the bridge bring it back.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import { commonCodecs, objectionToPair } from '../../media/sdp/far-place.ts'
import type { FarPlace, ReofferOptions } from '../../media/media.ts'
import type { MediaPathName } from '../journal/journal.ts'
import type { Leg } from '../leg/leg.ts'
import { noteProblem } from '../leg/note-problem.ts'

export interface MediaPathOptions {
  readonly legs: readonly [Leg, Leg]
  readonly clock: Clock
  /** The reason why media must stay with the platform, in words; undefined if it need not. */
  readonly staysBecause: string | undefined
}

/** The longest wait for the first packet of a far end. Most phones send from their answer on. */
const heardWithinMs = 5000
/** The longest wait, at the end of a bridge, for a far end to respond to the offer that brings its media back. */
const maxReturnMs = 4000
/** The most tries after the offer of the platform collides with one of a far end: RFC 3261 §14.1. */
const maxTries = 5
/** The most changes that wait. Each is up to two offers to either side. */
const maxWaiting = 8

/** Why no new agreement was reached. `retryMs`: the time after which another try may succeed; undefined: never. */
interface Refusal {
  readonly because: string
  readonly retryMs?: number | undefined
}

export class MediaPath {
  readonly #options: MediaPathOptions
  readonly #legs: readonly [Leg, Leg]
  readonly #stops: (() => void)[] = []
  /** The changes, which run one after the other. */
  #work: Promise<void> = Promise.resolve()
  #waiting = 0
  #isWanted = false
  #isBringing = false
  /** Ends a wait for the first packets of the far ends, or for another try. */
  #giveUp = (): void => undefined

  constructor(options: MediaPathOptions) {
    this.#options = options
    this.#legs = options.legs
    for (const leg of this.#legs)
      this.#stops.push(
        leg.events.watch((event) => {
          if (event === 'anchored' && !this.#isBringing)
            void this.#comeBack('one side has sent another offer')
        }),
      )
  }

  /**
   * Returns the function that begins a change. It resolves when the change is done or has failed, which the journals
   * report. Throws AppError call_state or overloaded.
   */
  ready(path: MediaPathName, because: string): () => Promise<void> {
    const { staysBecause } = this.#options
    if (path === 'no-media' && staysBecause !== undefined)
      throw new AppError('call_state', `the sound stays with the platform: ${staysBecause}`)
    if (this.#waiting >= maxWaiting)
      throw new AppError('overloaded', `${maxWaiting} changes of the way of the sound wait for the far ends`)
    return () => (path === 'no-media' ? this.#exit(because) : this.#stay(path, because))
  }

  #exit(because: string): Promise<void> {
    this.#isWanted = true
    for (const leg of this.#legs)
      leg.media.path.onNeeded = () => this.#comeBack('the platform is to be heard, or takes part')
    return this.#next(() => this.#leave(because))
  }

  /** Lets media exit, as the dial requests from the beginning, unless there is a reason for it to stay. */
  begin(): void {
    const { staysBecause } = this.#options
    if (staysBecause === undefined) void this.#exit('the dial asks for it')
    else this.#stayHere(staysBecause)
  }

  /** Ends with the bridge. Resolves when the legs that remain exchange media with the platform again, or fail to. */
  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop()
    this.#release()
    if (this.#legs.every(({ hasEnded, media }) => hasEnded || media.path.onNeeded === undefined)) return
    const back = this.#next(async () => void (await this.#bring()))
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#options.clock.after(maxReturnMs, resolve)
    await Promise.race([back, promise])
    timer.cancel()
    for (const { media } of this.#legs) media.path.onNeeded = undefined
  }

  #next(work: () => Promise<void>): Promise<void> {
    this.#waiting += 1
    this.#work = this.#work
      .then(work)
      .catch((error: unknown) => {
        for (const leg of this.#legs) noteProblem(leg, error)
      })
      .finally(() => (this.#waiting -= 1))
    return this.#work
  }

  #release(): void {
    this.#isWanted = false
    this.#giveUp()
  }

  #stay(path: 'partial-media' | 'full-media', because: string): Promise<void> {
    this.#release()
    return this.#next(async () => {
      await this.#bring()
      const refused = path === 'partial-media' ? await this.#agreeOnCodec() : undefined
      if (refused === undefined) this.#note(path, because)
      else this.#stayHere(refused.because)
    })
  }

  async #comeBack(because: string): Promise<void> {
    this.#release()
    await this.#next(async () => {
      if (await this.#bring()) this.#note('full-media', because)
    })
  }

  async #leave(because: string, tries = 1): Promise<void> {
    if (this.#legs.every(({ media }) => media.path.isPast)) return
    if (this.#legs.some(({ media }) => media.path.isEncrypted))
      return this.#stayHere('one side encrypts its packets, as browsers do')
    await this.#untilHeard()
    const objection = this.#objection()
    if (objection !== undefined) return this.#stayHere(objection)
    const refused = await this.#introduce().catch((error: unknown): Refusal => {
      for (const leg of this.#legs) noteProblem(leg, error)
      return { because: 'something failed' }
    })
    if (refused === undefined && this.#isWanted && this.#legs.every(({ media }) => media.path.isPast))
      return this.#note('no-media', because)
    await this.#bring()
    if (refused?.retryMs === undefined || tries === maxTries)
      return this.#stayHere(refused?.because ?? 'it is needed there again')
    // The wait begins once media is back, so that neither side lacks sound. A need for media here ends it.
    await this.#wait(refused.retryMs)
    return this.#leave(because, tries + 1)
  }

  #stayHere(because: string): void {
    if (this.#legs.some(({ hasEnded }) => hasEnded)) return
    for (const leg of this.#legs) {
      leg.media.path.onNeeded = undefined
      leg.journal.note({ type: 'note', sentence: `the sound stays with the platform: ${because}` })
    }
    this.#isWanted = false
  }

  #note(path: MediaPathName, because: string): void {
    for (const { journal, hasEnded } of this.#legs)
      if (!hasEnded) journal.note({ type: 'media-path', path, because })
  }

  /**
   * Offers each side the address of the other. The platform stops sending to a side before the other may send to
   * it, because two streams at the same time confuse some phones.
   */
  async #introduce(): Promise<Refusal | undefined> {
    const [a, b] = this.#legs
    const told = b.media.path.place
    await b.media.path.goPast(true)
    const first = told && (await this.#tell(a, told))
    if (first !== undefined) return first
    await a.media.path.goPast(true)
    const own = a.media.path.place
    const second = own && this.#isWanted ? await this.#tell(b, own) : { because: 'it is needed there again' }
    if (second !== undefined) return second
    // The second side may have moved to another port with its answer.
    const now = b.media.path.place
    if (now === undefined || now.port === told?.port) return undefined
    return await this.#tell(a, now)
  }

  async #tell(leg: Leg, past: FarPlace): Promise<Refusal | undefined> {
    const before = leg.media.path.place
    const refused = await this.#reoffer(leg, { past })
    if (refused !== undefined) return refused
    const { place, isPast } = leg.media.path
    const isFit = isPast && place?.address === before?.address
    return isFit ? undefined : { because: 'one side holds, or has moved to another address' }
  }

  async #reoffer(leg: Leg, options: ReofferOptions): Promise<Refusal | undefined> {
    const offer = leg.media.path.reoffer(options)
    if (leg.hasEnded || offer === undefined) return { because: 'one side has hung up' }
    // To bring media back, the stack waits out a collision. To let it exit, `leave` waits while media is here.
    const isUrgent = options.past === undefined
    const outcome = await whileUp(leg, leg.requests.reoffer(offer, { isUrgent }))
    if (outcome === undefined) return { because: 'one side has hung up' }
    const { status, reason, answer, retryMs } = outcome
    const { path } = leg.media
    // A far end that has taken the place of the other one sends there, whatever its answer says.
    const failed = status < 300 && options.past !== undefined ? () => path.taken() : () => path.withdraw()
    if (answer === undefined) {
      failed()
      return { because: `one side refused another offer with ${status} ${reason}`, retryMs }
    }
    try {
      await path.accept(answer)
      return undefined
    } catch (error) {
      failed()
      return { because: error instanceof AppError ? error.message : 'the answer of one side makes no sense' }
    }
  }

  /** Brings media back to the platform. Resolves with whether any was away. */
  async #bring(): Promise<boolean> {
    const away = this.#legs.filter((leg) => !leg.hasEnded && leg.media.path.isPast)
    this.#isBringing = true
    try {
      await Promise.all(away.map((leg) => this.#bringBack(leg)))
      // Until now each may have received media from the other.
      const up = this.#legs.filter(({ hasEnded }) => !hasEnded)
      await Promise.all(up.map(({ media }) => media.path.goPast(false)))
    } finally {
      this.#isBringing = false
    }
    if (!this.#isWanted) for (const leg of this.#legs) leg.media.path.onNeeded = undefined
    return away.length > 0
  }

  async #bringBack(leg: Leg): Promise<void> {
    const refused = await this.#reoffer(leg, {})
    if (refused === undefined || leg.hasEnded) return
    const sentence = `the sound did not come back: ${refused.because}`
    noteProblem(leg, new AppError('media_not_acceptable', sentence))
  }

  /** Makes both sides use one codec, so that packets can be forwarded unchanged. Returns why this failed. */
  async #agreeOnCodec(): Promise<Refusal | undefined> {
    const [a, b] = this.#legs
    const [ours, theirs] = [a.media.path.place, b.media.path.place]
    const only = ours?.codecs[0]?.encoding
    if (ours === undefined || theirs === undefined || only === theirs.codecs[0]?.encoding) return undefined
    const isCommon = commonCodecs(ours, theirs).some(({ encoding }) => encoding === only)
    return isCommon ? await this.#reoffer(b, { only }) : { because: 'the two have no codec in common' }
  }

  #objection(): string | undefined {
    const [a, b] = this.#legs
    if (!this.#isWanted) return 'it is needed there again'
    if (this.#legs.some(({ hasEnded }) => hasEnded)) return 'one side has hung up'
    const [first, second] = [a.media.path.place, b.media.path.place]
    if (first === undefined || second === undefined) return 'one side holds, or may not be sent to'
    if (this.#legs.some(({ media }) => media.isOccupied)) return 'the platform is heard, or one side is muted'
    if (!this.#legs.every(({ media }) => media.path.isWhereItSays))
      return 'one side is not heard from the place that its SDP names'
    return objectionToPair(first, second)
  }

  async #untilHeard(): Promise<void> {
    const isHeard = (): boolean => this.#legs.every(({ media }) => media.path.isWhereItSays)
    if (isHeard() || !this.#isWanted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#giveUp = resolve
    const look = (): void => {
      if (isHeard()) resolve()
    }
    const stops = this.#legs.map(({ events }) => events.watch(look))
    const timer = this.#options.clock.after(heardWithinMs, resolve)
    await promise
    timer.cancel()
    for (const stop of stops) stop()
  }

  async #wait(ms: number): Promise<void> {
    if (!this.#isWanted) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#giveUp = resolve
    const timer = this.#options.clock.after(ms, resolve)
    await promise
    timer.cancel()
  }
}

/** Waits for a request. Resolves with undefined once the leg has ended, since its far end may never respond. */
async function whileUp<T>(leg: Leg, work: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const end = (): void => resolve(undefined)
  leg.signal.addEventListener('abort', end, { once: true })
  // The request may have ended the leg.
  if (leg.hasEnded) end()
  try {
    return await Promise.race([work, promise])
  } finally {
    leg.signal.removeEventListener('abort', end)
  }
}
