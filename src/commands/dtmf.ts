// The command dtmf: presses keys at the far end.
import { Type } from '../lib/type.ts'
import { defineCommand } from './define/define-command.ts'
import { json } from './define/values.ts'

const usualMs = 250

const schema = Type.Object({
  digit: Type.String({
    pattern: '^[0-9A-Da-d*#w]{1,64}$',
    'x-rule': 'must be keys: 0 to 9, A to D, * and #, and w for half a second of rest',
    description: 'The keys; `w` waits for half a second.',
  }),
  duration: Type.Optional(
    Type.Integer({ minimum: 40, maximum: 10_000, description: 'How long each is pressed, in ms; 250.' }),
  ),
})

export const dtmf = defineCommand({
  name: 'dtmf',
  frame: 'dtmf',
  description: 'Presses keys at the far end.',
  example: { digit: '1', duration: 250 },
  value: json(schema),
  needs: 'answered',
  ready({ digit, duration = usualMs }, { leg: { keys } }) {
    keys.demandRoom()
    return { outcome: 'keys', start: () => keys.press(digit, duration) }
  },
})
