// One question to the caller: plays its prompt, takes the keys that are pressed, and ends when the answer is complete.
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { CollectRequest } from '../call.ts'
import { DigitCollector } from '../digits/digit-collector.ts'
import type { Collected } from '../digits/digit-collector.ts'
import type { Leg } from '../leg/leg.ts'

export interface CollectOptions {
  readonly leg: Pick<Leg, 'onDigit'>
  readonly clock: Clock
  /** The prompt could not be played. */
  readonly onProblem: (error: AppError) => void
}

export async function collectDigits(
  { rules, prompt, signal }: CollectRequest,
  { leg, clock, onProblem }: CollectOptions,
): Promise<Collected> {
  const speaking = new AbortController()
  const collector = new DigitCollector({ rules, clock, onBargeIn: () => speaking.abort() })
  const stop = (): void => {
    speaking.abort()
    collector.stop()
  }
  const stopListening = leg.onDigit((digit) => collector.press(digit))
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const prompting = play(prompt, speaking.signal, onProblem).finally(() => collector.promptEnded())
  try {
    return await collector.outcome
  } finally {
    stopListening()
    signal.removeEventListener('abort', stop)
    speaking.abort()
    await prompting
  }
}

/** A prompt that cannot be heard does not keep the caller from pressing keys. */
async function play(
  prompt: CollectRequest['prompt'],
  signal: AbortSignal,
  onProblem: CollectOptions['onProblem'],
): Promise<void> {
  try {
    await prompt?.(signal)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (!signal.aborted) onProblem(error)
  }
}
