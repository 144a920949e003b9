// The abilities of a script on one leg.
import type { Clock } from '../../lib/clock.ts'
import type { AudioFetcher, Speech } from '../../contracts/speech.ts'
import type { Abilities } from './abilities.ts'
import { createDigits } from './digits.ts'
import { LegHooks } from './hooks.ts'
import type { LegHooksOptions } from './hooks.ts'
import { CallNotes } from './notes.ts'
import { LegSignalling } from './signalling.ts'
import { createTags } from './tags.ts'
import { createTime } from './time.ts'
import { LegVoice } from './voice.ts'

export interface AbilitiesOptions extends LegHooksOptions {
  readonly speech: Speech
  readonly audio: AudioFetcher
  readonly clock: Clock
}

export function createAbilities(options: AbilitiesOptions): Abilities & { readonly hooks: LegHooks } {
  const { leg, clock } = options
  const notes = new CallNotes(leg.journal)
  const hooks = new LegHooks(options)
  return {
    signalling: new LegSignalling(leg, notes),
    voice: new LegVoice({ ...options, notes, resolveUrl: (url) => hooks.resolveUrl(url) }),
    digits: createDigits({ leg, clock, onProblem: (error) => notes.problem(error) }),
    hooks,
    tags: createTags(leg.journal),
    time: createTime(clock),
    notes,
  }
}
