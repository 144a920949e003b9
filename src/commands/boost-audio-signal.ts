// The command boostAudioSignal: sets how loud the far end hears everything.
import { decibelPattern, maxGainDb, minGainDb, toDecibels } from '../calls/command.ts'
import { Type } from '../lib/type.ts'
import { defineCommand } from './define/define-command.ts'
import { json } from './define/values.ts'

const gain = Type.Unsafe<number | string>({
  type: ['number', 'string'],
  minimum: minGainDb,
  maximum: maxGainDb,
  pattern: decibelPattern,
  'x-rule': 'must be a number of dB, like "-10 dB"',
})

export const boostAudioSignal = defineCommand({
  name: 'boostAudioSignal',
  frame: 'boostAudioSignal',
  description: 'The gain of everything that the far end hears, in dB: `6`, or `"-10 dB"`.',
  example: '+6 dB',
  value: json(gain),
  needs: 'answered',
  ready: (given, { leg }) => ({
    outcome: 'gain',
    apply: () => leg.media.sound.boost(toDecibels(given)),
  }),
})
