// The ability to collect keys: a question that is answered by keys alone.
import type { Leg } from '../leg/leg.ts'
import type { Digits } from '../verb/abilities.ts'
import type { Hearing } from '../verb/recognition.ts'

export interface DigitsOptions {
  readonly leg: Pick<Leg, 'journal'>
  readonly hearing: Pick<Hearing, 'ask'>
}

export function createDigits({ leg, hearing }: DigitsOptions): Digits {
  return {
    async collect({ rules, prompt, signal }) {
      const answer = await hearing.ask({
        digits: rules,
        speech: undefined,
        recognizer: undefined,
        ...(prompt === undefined ? {} : { prompt }),
        signal,
      })
      // Without a recogniser there are no other answers.
      return answer.reason === 'digits' || answer.reason === 'timeout' ? answer : { reason: 'stopped' }
    },
    hide: (isHidden) => leg.journal.hideDigits(isHidden),
  }
}
