// The talk of two legs, from the moment they hear each other until either side, the application or a limit ends it.
import type { Clock } from '../../lib/clock.ts'
import type { Hook } from '../../contracts/hook.ts'
import type { HookForm } from '../application/hook-form.ts'
import type { NestedVerbs } from '../application/nested-verbs.ts'
import type { Leg } from '../leg/leg.ts'
import { Bridge } from './bridge.ts'
import { CapturedDigits } from './captured-digits.ts'
import type { DialRequest } from './dial-request.ts'
import { whyGone, whyStopped } from './leg-story.ts'
import type { RunnableVerb } from '../verb.ts'
import type { TransferOptions } from './transfer.ts'
import { Whispers } from './whispers.ts'

export interface TalkOptions extends Pick<DialRequest, 'signal' | 'capture'> {
  /** The leg that has dialled the other one. */
  readonly parent: Leg
  readonly child: Leg
  readonly captureHook: HookForm | undefined
  readonly maxTalkMs: number | undefined
}

/** What runs the leg that was dialled once it goes on by itself. */
export type Successor = Hook | readonly RunnableVerb[]

export interface TalkServices {
  readonly clock: Clock
  readonly nested: NestedVerbs
  /** Judges a REFER of either side, and calls `start` with the verbs that the other side runs from then on. */
  readonly transfer: (asked: Pick<TransferOptions, 'referral' | 'by' | 'other' | 'start'>) => void
}

export interface Parted {
  /** In words for the journals. */
  readonly because: string
  /** What runs the leg that was dialled from now on. */
  readonly successor: Successor | undefined
}

/** Resolves when the two have parted. */
export async function talk(options: TalkOptions, services: TalkServices): Promise<Parted> {
  return await new Talk(options, services).run()
}

class Talk {
  readonly #options: TalkOptions
  readonly #services: TalkServices
  /** Aborts when the two have parted: what a long call has been through must not be remembered by its signal. */
  readonly #over = new AbortController()
  readonly #parting = Promise.withResolvers<string>()
  readonly #stops: (() => void)[] = []
  #successor: Successor | undefined

  constructor(options: TalkOptions, services: TalkServices) {
    this.#options = options
    this.#services = services
  }

  async run(): Promise<Parted> {
    const { parent, child, capture } = this.#options
    const bridge = new Bridge(parent, child)
    this.#capture(parent, capture.parent)
    this.#capture(child, capture.child)
    this.#takeCommands(bridge)
    this.#watch()
    try {
      await bridge.join()
      const because = await this.#parting.promise
      await bridge.part(because)
      return { because, successor: this.#successor }
    } finally {
      await bridge.part('the two could not be connected')
      this.#over.abort()
      for (const stop of this.#stops) stop()
      parent.bridge = undefined
      child.bridge = undefined
    }
  }

  #takeCommands(bridge: Bridge): void {
    const { parent, child } = this.#options
    const whispers = new Whispers(this.#services.nested)
    this.#stops.push(() => whispers.stop())
    for (const leg of [parent, child])
      leg.bridge = {
        mute: (isMuted) => bridge.mute(leg, isMuted),
        whisper: (verbs) => whispers.whisper(leg, verbs),
        beside: (verbs, allowed) => this.#services.nested.beside({ leg, verbs, allowed }),
        part: (hook) => {
          this.#successor = hook
          this.#parting.resolve('the called side became a call of its own')
        },
        refer: (referral) => {
          const other = leg === parent ? child : parent
          const start = (verbs: readonly RunnableVerb[]): void => this.#sendElsewhere(other, verbs)
          this.#services.transfer({ referral, by: leg, other, start })
        },
      }
  }

  #sendElsewhere(other: Leg, verbs: readonly RunnableVerb[]): void {
    const { parent } = this.#options
    // The verbs of the caller end the dial that runs.
    if (other === parent) return parent.script?.interrupt(verbs, 'the called party sent the caller elsewhere')
    this.#successor = verbs
    this.#parting.resolve('the caller sent the called side elsewhere')
  }

  /** The first reason to part counts. */
  #watch(): void {
    const { parent, child, signal, maxTalkMs } = this.#options
    this.#partOn(child.signal, () => whyGone(child, 'the called party'))
    for (const stopping of [parent.signal, signal])
      this.#partOn(stopping, () => whyStopped(parent, signal) ?? 'the dial is over')
    if (maxTalkMs === undefined) return
    const part = (): void => this.#parting.resolve('the time limit of the dial has passed')
    const timer = this.#services.clock.after(maxTalkMs, part)
    this.#stops.push(() => timer.cancel())
  }

  #partOn(signal: AbortSignal, because: () => string): void {
    const part = (): void => this.#parting.resolve(because())
    if (signal.aborted) part()
    else signal.addEventListener('abort', part, { once: true, signal: this.#over.signal })
  }

  #capture(leg: Leg, sequences: readonly string[]): void {
    const { captureHook } = this.#options
    const { nested, clock } = this.#services
    if (captureHook === undefined || sequences.length === 0) return
    const captured = new CapturedDigits(sequences)
    const stop = leg.onDigit((digit) => {
      const dtmf = captured.press(digit, clock.monotonic())
      if (dtmf !== undefined) void nested.tell(leg, captureHook, { dtmf })
    })
    this.#stops.push(stop)
  }
}
