// The command dtmf: presses keys at the far end.
import { defineCommand } from './define/define-command.ts'
import { json, type JsonSchema } from './define/values.ts'

const usualMs = 250

interface Keys {
  readonly digit: string
  readonly duration?: number
}

const schema: JsonSchema = {
  type: 'object',
  required: ['digit'],
  properties: {
    digit: {
      type: 'string',
      pattern: '^[0-9A-Da-d*#w]{1,64}$',
      'x-rule': 'must be keys: 0 to 9, A to D, * and #, and w for half a second of rest',
      description: 'The keys; `w` waits for half a second.',
    },
    duration: {
      type: 'integer',
      minimum: 40,
      maximum: 10_000,
      description: 'How long each is pressed, in ms; 250.',
    },
  },
}

export const dtmf = defineCommand({
  name: 'dtmf',
  frame: 'dtmf',
  description: 'Presses keys at the far end.',
  example: { digit: '1', duration: 250 },
  value: json<Keys>(schema),
  needs: 'answered',
  ready({ digit, duration = usualMs }, { leg: { keys } }) {
    keys.demandRoom()
    return { outcome: 'keys', start: () => keys.press(digit, duration) }
  },
})
