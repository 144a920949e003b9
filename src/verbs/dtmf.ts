// The verb dtmf: presses keys at the far end.
import { Type } from '../lib/type.ts'
import { defineVerb } from './define/define-verb.ts'

const usualMs = 500
/** The pause after the last key, so that the far end has processed it before it hears anything else. */
const restMs = 750

export const dtmf = defineVerb({
  name: 'dtmf',
  summary: 'Presses keys at the far end.',
  example: [{ verb: 'dtmf', dtmf: '12w#', duration: 250 }],
  needs: 'audio',
  uses: ['keys', 'time'],
  schema: Type.Object({
    dtmf: Type.String({
      pattern: '^[0-9A-Da-d*#wW]{1,64}$',
      'x-rule': 'must be keys: 0 to 9, A to D, * and #, and w for half a second of rest',
      description:
        'The keys, 64 at most; w rests for half a second. They go out as RTP events (RFC 4733), or as INFO where the far end takes no such events.',
    }),
    duration: Type.Optional(
      Type.Number({
        minimum: 40,
        maximum: 8000,
        description: 'How long each is pressed, in ms. Default 500.',
      }),
    ),
  }),
  async execute({ dtmf: digits, duration }, { keys, time, signal }) {
    await keys.press(digits, { durationMs: duration ?? usualMs, signal })
    await time.wait(restMs, signal)
  },
})
