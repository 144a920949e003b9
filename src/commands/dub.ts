// The command dub: the verb of this name, beside those that run.
import { AppError } from '../lib/errors.ts'
import { defineCommand } from './define/define-command.ts'
import { anyObject, json } from './define/values.ts'

const dubbing: ReadonlySet<string> = new Set(['dub'])

export const dub = defineCommand({
  name: 'dub',
  frame: 'dub',
  description: 'What the verb `dub` takes: a track that the far end hears.',
  value: json<object>(anyObject),
  needs: 'answered',
  ready(options, { leg }) {
    const run = (leg.script ?? leg.bridge)?.beside
    if (run === undefined)
      throw new AppError('call_state', 'the call has not been answered', {
        cure: 'Send it once call_status is in-progress.',
      })
    return { outcome: 'dub', start: run({ ...options, verb: 'dub' }, dubbing) }
  },
})
