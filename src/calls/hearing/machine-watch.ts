// One side of a call whose answering machine detection runs: its ears, the detector, and the hook that gets the events.
import type { Clock } from '../../lib/clock.ts'
import { memberOf } from '../../lib/members.ts'
import type { AppError } from '../../lib/errors.ts'
import type { MachineDetection, MachineEvent } from '../verb/machine-detection.ts'
import type { Ear, EarOptions } from './ear.ts'
import { MachineDetector } from './machine-detector.ts'

/** `words`: a recogniser; `sound`: whether there is a voice, and beeps. */
export type WatchedBy = 'words' | 'sound'

export type WatchListener = Pick<EarOptions, 'onHeard' | 'onFailed' | 'onVendorEvent' | 'wantsPartials'>

export interface MachineWatchOptions {
  readonly request: MachineDetection
  readonly clock: Clock
  /** Whether there is a recogniser of words. */
  readonly hearsWords: boolean
  /** Opens an ear. Calls `onFailed` if there is none. */
  readonly listen: (by: WatchedBy, listener: WatchListener) => Ear | undefined
  readonly onEvent: (event: MachineEvent) => void
}

export class MachineWatch {
  readonly #detector: MachineDetector
  readonly #ears: (Ear | undefined)[] = []

  constructor({ request, clock, hearsWords, listen, onEvent }: MachineWatchOptions) {
    this.#detector = new MachineDetector({
      rules: request.rules,
      by: hearsWords ? 'words' : 'cadence',
      clock,
      onEvent: (event) => {
        if (event.type === 'amd_stopped') this.#deafen()
        onEvent(event)
      },
    })
    const detector = this.#detector
    const fail = (error: AppError): void => detector.failed(error.message)
    if (hearsWords) {
      const ear = listen('words', {
        wantsPartials: true,
        onHeard: (speech, { turn }) => {
          // The end of a turn that may be withdrawn is not final.
          detector.hear(turn === 'eager' || turn === 'resumed' ? { ...speech, is_final: false } : speech)
        },
        onFailed: fail,
      })
      this.#add(ear, true)
    }
    if (detector.isOver) return
    const ear = listen('sound', {
      wantsPartials: false,
      onHeard: () => undefined,
      onVendorEvent: (event) => this.#sense(event),
      // Words are enough for a verdict.
      onFailed: hearsWords ? () => undefined : fail,
    })
    this.#add(ear, !hearsWords)
  }

  /** Ends with `amd_stopped`. Idempotent. */
  stop(): void {
    this.#detector.stop()
  }

  /** `isNeeded`: without this ear the detection is over, as at the end of the leg that is heard. */
  #add(ear: Ear | undefined, isNeeded: boolean): void {
    this.#ears.push(ear)
    if (isNeeded) void ear?.ended.then(() => this.stop())
    if (this.#detector.isOver) ear?.close()
  }

  #deafen(): void {
    for (const ear of this.#ears) ear?.close()
  }

  #sense(event: object): void {
    const [isOn, agoMs] = [memberOf(event, 'on'), memberOf(event, 'ago_ms')]
    if (typeof isOn === 'boolean') this.#detector.voice(isOn, Number(agoMs))
    const [frequency, variance] = [memberOf(event, 'frequency'), memberOf(event, 'variance')]
    if (typeof frequency === 'number') this.#detector.tone({ frequency, variance: Number(variance) })
  }
}
