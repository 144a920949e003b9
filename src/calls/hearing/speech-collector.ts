// The collection of words for one question: which results are an answer, when it is complete, and when the prompt stops.
// Pure, except for the clock.
import type { Clock, Timer } from '../../lib/clock.ts'
import type { SpeechResult } from '../../contracts/recognition.ts'
import type { Answer, HeardDetails, SpeechRules } from '../verb/recognition.ts'
import { countWords, joinResults, transcriptOf } from './words.ts'

export interface SpeechCollectorOptions {
  readonly rules: SpeechRules
  readonly clock: Clock
  /** Called once, when words or a voice may stop the prompt. */
  readonly onBargeIn: () => void
  /** Called with each sign that the caller speaks: the time of the question begins again. */
  readonly onWords: () => void
}

/** The time for one last final after the key that ends joining. */
const afterKeyMs = 1000

export class SpeechCollector {
  readonly outcome: Promise<Answer>
  readonly #options: SpeechCollectorOptions
  readonly #resolve: (answer: Answer) => void
  #finals: SpeechResult[] = []
  #partial: SpeechResult | undefined
  #latency_ms: number | undefined
  #isPrompting = true
  #isOver = false
  /** Set by the key that ends joining: the next final is the last. */
  #isEnding = false
  #window: Timer | undefined
  #promotion: Timer | undefined

  constructor(options: SpeechCollectorOptions) {
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<Answer>()
    this.outcome = promise
    this.#resolve = resolve
  }

  hear(speech: SpeechResult, { turn, latency_ms }: HeardDetails = {}): void {
    if (this.#isOver || turn === 'eager' || turn === 'resumed') return
    if (transcriptOf(speech).trim() === '') return
    this.#options.onWords()
    this.#promotion?.cancel()
    this.#bargeIn(countWords([...this.#finals, speech]))
    if (speech.is_final) this.#final(speech, latency_ms)
    else this.#noteOpen(speech)
  }

  /** Notes a voice, without knowing its words. */
  voiced(): void {
    if (!this.#isOver) this.#bargeIn(0)
  }

  /** Ends joining by the key. Returns false if the key is another, or nothing was heard. */
  press(key: string): boolean {
    const { terminationKey } = this.#options.rules
    if (terminationKey !== key || (this.#finals.length === 0 && this.#partial === undefined)) return false
    this.#isEnding = true
    this.#arm(afterKeyMs)
    return true
  }

  promptEnded(): void {
    this.#isPrompting = false
  }

  /** Called when the time of the question is over. Returns true if what was heard becomes the answer. */
  timedOut(): boolean {
    const { joinsUntilMs } = this.#options.rules
    if (this.#isOver || joinsUntilMs === undefined || this.#finals.length === 0) return false
    if (this.#window === undefined) this.#arm(joinsUntilMs)
    return true
  }

  /** Called when no recogniser is left. What was heard is still an answer. */
  failed(details: string): void {
    if (this.#finals.length > 0) this.#finish(this.#joined())
    else this.#finish({ reason: 'error', details })
  }

  stop(): void {
    this.#finish({ reason: 'stopped' })
  }

  #bargeIn(words: number): void {
    const { stopsPrompt, minBargeinWords } = this.#options.rules
    if (this.#isPrompting && stopsPrompt && words >= minBargeinWords) this.#options.onBargeIn()
  }

  #noteOpen(speech: SpeechResult): void {
    const { promoteAfterMs } = this.#options.rules
    this.#partial = speech
    if (this.#finals.length > 0) this.#restartWindow()
    if (promoteAfterMs === undefined) return
    this.#promotion = this.#options.clock.after(promoteAfterMs, () =>
      this.#final({ ...speech, is_final: true }, undefined),
    )
  }

  #final(speech: SpeechResult, latency_ms: number | undefined): void {
    const { minConfidence = 0, joinsUntilMs } = this.#options.rules
    this.#partial = undefined
    this.#latency_ms = latency_ms
    const confidence = speech.alternatives[0]?.confidence ?? 0
    // Vendors without a confidence report 0.
    if (confidence > 0 && confidence < minConfidence)
      return this.#finish({ reason: 'low-confidence', speech })
    this.#finals.push(speech)
    if (joinsUntilMs === undefined || this.#isEnding) this.#finish(this.#joined())
    else this.#restartWindow()
  }

  #restartWindow(): void {
    const { joinsUntilMs } = this.#options.rules
    if (joinsUntilMs !== undefined && !this.#isEnding) this.#arm(joinsUntilMs)
  }

  #arm(ms: number): void {
    this.#window?.cancel()
    this.#window = this.#options.clock.after(ms, () => {
      if (this.#finals.length === 0 && this.#partial !== undefined)
        this.#finals.push({ ...this.#partial, is_final: true })
      this.#finish(this.#joined())
    })
  }

  #joined(): Answer {
    return { reason: 'speech', speech: joinResults(this.#finals), latency_ms: this.#latency_ms }
  }

  #finish(answer: Answer): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#window?.cancel()
    this.#promotion?.cancel()
    this.#resolve(answer)
  }
}
