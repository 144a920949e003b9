// The collection of digits for one question: when enough keys have been pressed, and when to stop waiting.
import type { Clock, Timer } from '../../lib/clock.ts'

export interface DigitRules {
  /** False for a question that takes no digits: it only runs to its time-out. */
  readonly takesDigits: boolean
  readonly numDigits?: number
  /** The fewest digits of an entry. Default 1. */
  readonly minDigits?: number | undefined
  readonly maxDigits?: number
  /** The key that ends the entry; it is not part of the digits. */
  readonly finishOnKey?: string | undefined
  /** Once there is a digit, the question is over after a pause of this length, whatever `timeoutMs` is. */
  readonly interDigitTimeoutMs?: number
  /** The question is over if no digit comes for this long after the prompt or the digit before; 0 means no limit. */
  readonly timeoutMs: number
  readonly listensDuringPrompt: boolean
  readonly stopsPrompt: boolean
}

export type Collected =
  | { readonly reason: 'digits'; readonly digits: string }
  /** `digits` are those of an entry that has too few. */
  | { readonly reason: 'timeout'; readonly digits: string }
  /** The call ended or the verb was replaced. */
  | { readonly reason: 'stopped' }

export interface DigitCollectorOptions {
  readonly rules: DigitRules
  readonly clock: Clock
  /** Called for the first digit of a question whose prompt may be interrupted. */
  readonly onBargeIn: () => void
}

export class DigitCollector {
  readonly outcome: Promise<Collected>
  readonly #options: DigitCollectorOptions
  readonly #resolve: (outcome: Collected) => void
  #digits = ''
  #isPrompting = true
  #isOver = false
  /** Set when the entry is complete while a prompt that digits must not cut is still playing. */
  #completed: Collected | undefined
  #silence: Timer | undefined

  constructor(options: DigitCollectorOptions) {
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<Collected>()
    this.outcome = promise
    this.#resolve = resolve
  }

  press(digit: string): void {
    const { rules } = this.#options
    if (this.#isOver || this.#completed !== undefined || !rules.takesDigits) return
    if (this.#isPrompting && !rules.listensDuringPrompt) return
    if (this.#isPrompting && rules.stopsPrompt) this.#options.onBargeIn()
    if (rules.finishOnKey !== undefined && rules.finishOnKey.includes(digit)) return this.#complete()
    this.#digits += digit
    const enough = Math.min(rules.numDigits ?? Infinity, rules.maxDigits ?? Infinity)
    if (this.#digits.length >= enough) return this.#complete()
    this.#restartTimer()
  }

  /** Lets the time of the question begin again, as the caller does something else than press keys. */
  waitAgain(): void {
    if (this.#digits === '' && this.#completed === undefined) this.#restartTimer()
  }

  promptEnded(): void {
    if (!this.#isPrompting) return
    this.#isPrompting = false
    if (this.#completed === undefined) this.#restartTimer()
    else this.#finish(this.#completed)
  }

  stop(): void {
    this.#finish({ reason: 'stopped' })
  }

  #complete(): void {
    this.#completed = { reason: 'digits', digits: this.#digits }
    if (!this.#isPrompting || this.#options.rules.stopsPrompt) this.#finish(this.#completed)
  }

  #restartTimer(): void {
    if (this.#isPrompting || this.#isOver) return
    const { rules, clock } = this.#options
    this.#silence?.cancel()
    // One pause at a time ends the question. Two timers would let the shorter one cut off an entry.
    const betweenMs = this.#digits === '' ? undefined : rules.interDigitTimeoutMs
    const pauseMs = betweenMs ?? rules.timeoutMs
    if (pauseMs > 0) this.#silence = clock.after(pauseMs, () => this.#timedOut())
  }

  #timedOut(): void {
    const digits = this.#digits
    if (digits.length >= Math.max(1, this.#options.rules.minDigits ?? 1)) this.#complete()
    else this.#finish({ reason: 'timeout', digits })
  }

  #finish(outcome: Collected): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#silence?.cancel()
    this.#resolve(outcome)
  }
}
