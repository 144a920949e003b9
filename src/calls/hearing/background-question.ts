// A question in the background of other verbs (`bargeIn` of config): while they speak, the caller may say or press
// something at any time. A question of a verb suspends it.
import { stopped } from '../session/stop.ts'
import type { Answer, BackgroundRequest, SpokenQuestion } from '../verb/recognition.ts'

export interface BackgroundQuestionOptions {
  readonly request: BackgroundRequest
  readonly ask: (question: SpokenQuestion) => Promise<Answer>
  /** Ends what the caller hears. */
  readonly silence: () => void
  /** The signal of the call. */
  readonly signal: AbortSignal
}

export class BackgroundQuestion {
  readonly #options: BackgroundQuestionOptions
  #running: AbortController | undefined
  #suspensions = 0
  #isOver = false

  constructor(options: BackgroundQuestionOptions) {
    this.#options = options
    void this.#run()
  }

  get isListening(): boolean {
    return !this.#isOver
  }

  get input(): string {
    return this.#options.request.input
  }

  /** Stops listening until `resume`. Without `sticky` that is its end. */
  suspend(): void {
    this.#suspensions += 1
    this.#running?.abort(stopped('suspended'))
    if (!this.#options.request.isSticky) this.#isOver = true
  }

  resume(): void {
    this.#suspensions -= 1
    if (this.#suspensions === 0) void this.#run()
  }

  end(): void {
    this.#isOver = true
    this.#running?.abort(stopped('done'))
  }

  async #run(): Promise<void> {
    const { request, ask, silence, signal } = this.#options
    while (!this.#isOver && this.#suspensions === 0 && !signal.aborted && this.#running === undefined) {
      const running = new AbortController()
      this.#running = running
      const answer = await ask({
        ...request.question,
        // It stands for whatever sounds: words and keys may end it.
        prompt: (ends) => untilAborted(ends),
        onBargeIn: silence,
        signal: AbortSignal.any([signal, running.signal]),
      })
      this.#running = undefined
      if (answer.reason === 'stopped') continue
      silence()
      if (!request.isSticky || answer.reason === 'error') this.#isOver = true
      await request.onAnswer(answer, signal)
    }
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
