// The collection of digits for one question: when enough keys have been pressed, and when to stop waiting.
import type { Clock, Timer } from '../../lib/clock.ts'

export interface DigitRules {
  /** False for a question that takes no digits: it only runs to its time-out. */
  readonly takesDigits: boolean
  readonly numDigits?: number
  readonly minDigits?: number
  readonly maxDigits?: number
  /** The key that ends the entry; it is not part of the digits. */
  readonly finishOnKey?: string
  readonly interDigitTimeoutMs?: number
  /** The question is over if no digit comes for this long after the prompt; 0 means no limit. */
  readonly timeoutMs: number
  readonly listensDuringPrompt: boolean
  readonly stopsPrompt: boolean
}

export type Collected =
  | { readonly reason: 'digits'; readonly digits: string }
  | { readonly reason: 'timeout' }
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
  #betweenDigits: Timer | undefined

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
    this.#restartTimers()
  }

  promptEnded(): void {
    if (!this.#isPrompting) return
    this.#isPrompting = false
    if (this.#completed === undefined) this.#restartTimers()
    else this.#finish(this.#completed)
  }

  stop(): void {
    this.#finish({ reason: 'stopped' })
  }

  #complete(): void {
    this.#completed = { reason: 'digits', digits: this.#digits }
    if (!this.#isPrompting || this.#options.rules.stopsPrompt) this.#finish(this.#completed)
  }

  #restartTimers(): void {
    if (this.#isPrompting || this.#isOver) return
    const { rules, clock } = this.#options
    this.#silence?.cancel()
    if (rules.timeoutMs > 0) this.#silence = clock.after(rules.timeoutMs, () => this.#timedOut())
    this.#betweenDigits?.cancel()
    const isEntry = this.#digits.length >= Math.max(1, rules.minDigits ?? 1)
    if (rules.interDigitTimeoutMs !== undefined && isEntry)
      this.#betweenDigits = clock.after(rules.interDigitTimeoutMs, () => this.#complete())
  }

  #timedOut(): void {
    const { minDigits } = this.#options.rules
    if (minDigits !== undefined && this.#digits.length >= minDigits && this.#digits !== '') this.#complete()
    else this.#finish({ reason: 'timeout' })
  }

  #finish(outcome: Collected): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#silence?.cancel()
    this.#betweenDigits?.cancel()
    this.#resolve(outcome)
  }
}
