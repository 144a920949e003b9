// The command tag: sets the customerData of later payloads of a call.
import { maxTagLength } from '../calls/command.ts'
import { AppError } from '../lib/errors.ts'
import { defineCommand } from './define/define-command.ts'
import { anyObject, json } from './define/values.ts'

export const tag = defineCommand({
  name: 'tag',
  frame: 'tag',
  description: 'customerData of every later hook of the call.',
  example: { ticket: 4711 },
  value: json(anyObject, (data) => {
    if (JSON.stringify(data).length > maxTagLength)
      throw new AppError('bad_request', `tag must have at most ${maxTagLength} characters`)
  }),
  needs: 'nothing',
  ready: (data, { leg: { journal } }) => ({
    outcome: 'tag',
    apply() {
      journal.add({ type: 'tagged', data })
      journal.commit()
    },
  }),
})
