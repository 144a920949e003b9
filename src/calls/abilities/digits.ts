// The ability to collect keys. A collection plays its prompt, collects the keys that are pressed, and ends when the
// input is complete.
import type { Clock } from '../../lib/clock.ts'
import type { AppError } from '../../lib/errors.ts'
import { DigitCollector, type Collected } from '../digits/digit-collector.ts'
import type { Leg } from '../leg/leg.ts'
import { stopped } from '../session/stop.ts'
import { play } from './play-prompt.ts'
import type { CollectRequest, Digits } from '../verb/abilities.ts'

export interface DigitsOptions {
  readonly leg: Pick<Leg, 'onDigit' | 'journal'>
  readonly clock: Clock
  /** Called when the prompt could not be played. */
  readonly onProblem: (error: AppError) => void
  /** Called when a key has ended the prompt. */
  readonly onBargeIn: () => void
}

export function createDigits(options: DigitsOptions): Digits {
  return {
    collect: (request) => collect(request, options),
    hide: (isHidden) => options.leg.journal.hideDigits(isHidden),
  }
}

async function collect(
  { rules, prompt, signal }: CollectRequest,
  { leg, clock, onProblem, onBargeIn }: DigitsOptions,
): Promise<Collected> {
  const speaking = new AbortController()
  const collector = new DigitCollector({
    rules,
    clock,
    onBargeIn() {
      if (!speaking.signal.aborted) onBargeIn()
      speaking.abort(stopped('barged-in'))
    },
  })
  const stop = (): void => {
    speaking.abort(signal.reason)
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
    speaking.abort(stopped('done'))
    await prompting
  }
}
