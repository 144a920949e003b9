// The option `amd` of verbs: answering machine detection.
import { Type } from '../../lib/type.ts'
import type { Static } from 'typebox'
import {
  toMachineDetection,
  usualDetection,
  type MachineDetection,
  type MachineDetectionForm,
} from '../../calls/verb.ts'
import { AppError } from '../../lib/errors.ts'
import { hookFor, recognizer } from './schemas.ts'

const maxMs = 3_600_000

const milliseconds = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: maxMs, description: `${description}, in milliseconds.` }))

const timers = Type.Object(
  {
    noSpeechTimeoutMs: milliseconds(
      `How long nothing may be said (default ${usualDetection.noSpeechTimeoutMs})`,
    ),
    decisionTimeoutMs: milliseconds(
      `The time for the decision (default ${usualDetection.decisionTimeoutMs})`,
    ),
    toneTimeoutMs: milliseconds(
      `How long after the answer a beep is reported (default ${usualDetection.toneTimeoutMs})`,
    ),
    greetingCompletionTimeoutMs: milliseconds(
      'The silence that ends the greeting of a machine (default 2000, and 1000 after a beep)',
    ),
  },
  { description: 'The times of the detection.' },
)

const count = (minimum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum, maximum: 1000, description }))

/** Returns the schema of the option. `description`: which leg is heard, and from when. */
export const machineDetection = (description: string) =>
  Type.Object(
    {
      enable: Type.Optional(Type.Boolean({ description: 'false: ends it, or does not begin it.' })),
      actionHook: Type.Optional(
        hookFor(
          'Required. Sent for each event, with its `type`. The verbs of an answer run immediately, in place of those that run.',
        ),
      ),
      thresholdWordCount: count(
        1,
        `A greeting of this many words is that of a machine. Default ${usualDetection.thresholdWordCount}.`,
      ),
      digitCount: count(0, 'A machine says this many digits in a row. Default 0: digits are not counted.'),
      timers: Type.Optional(timers),
      recognizer: Type.Optional(recognizer),
    },
    {
      description: `Answering machine detection: whether a person or a machine has answered. ${description} The words of a recogniser decide. If none is chosen, or with the vendor \`none\`, the voice and its pauses decide, and beeps. No accuracy is promised.`,
    },
  )

type Given = Static<ReturnType<typeof machineDetection>>

/** Returns undefined if it is switched off. Throws AppError hook_invalid_payload. */
export function toDetection(given: Given, where: string): MachineDetection | undefined {
  const { enable = true, actionHook } = given
  if (!enable) return undefined
  if (actionHook === undefined)
    throw new AppError('hook_invalid_payload', `${where}: amd: "actionHook" is required`)
  return toMachineDetection({ ...given, actionHook } as MachineDetectionForm)
}
