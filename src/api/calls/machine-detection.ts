// Answering machine detection of a call that is made, as clients write it.
import {
  toMachineDetection,
  usualDetection,
  type MachineDetection,
  type RecognizerForm,
} from '../../calls/calls.ts'
import { createField, type Field, type JsonSchema } from '../define/field.ts'
import type { HookInput } from '../define/fields.ts'
import { hookOfLiveCall, toHookForm } from './hook.ts'

export interface DetectionInput {
  readonly actionHook: HookInput
  readonly thresholdWordCount?: number
  readonly digitCount?: number
  readonly timers?: {
    readonly noSpeechTimeoutMs?: number
    readonly decisionTimeoutMs?: number
    readonly toneTimeoutMs?: number
    readonly greetingCompletionTimeoutMs?: number
  }
  readonly recognizer?: RecognizerForm
}

const count = (minimum: number, description: string): JsonSchema => ({
  type: 'integer',
  minimum,
  maximum: 1000,
  description,
})

const milliseconds = (description: string): JsonSchema => ({
  type: 'integer',
  minimum: 1,
  maximum: 3_600_000,
  description: `${description}, in milliseconds.`,
})

export function machineDetection(): Field<DetectionInput> {
  const hook = hookOfLiveCall().facts
  return createField({
    schema: {
      type: 'object',
      required: ['actionHook'],
      properties: {
        actionHook: {
          ...hook.schema,
          description:
            'Sent for each event, with its `type`. The verbs of an answer run immediately, in place of those that run.',
        },
        thresholdWordCount: count(
          1,
          `A greeting of this many words is that of a machine. Default ${usualDetection.thresholdWordCount}.`,
        ),
        digitCount: count(0, 'A machine says this many digits in a row. Default 0: digits are not counted.'),
        timers: {
          type: 'object',
          description: 'The times of the detection.',
          properties: {
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
        },
        recognizer: {
          type: 'object',
          maxProperties: 100,
          additionalProperties: true,
          description: 'As `recognizer` of a verb. With the vendor `none` the voice alone is heard.',
        },
      },
    },
    normalize(value) {
      if (typeof value !== 'object' || value === null || !('actionHook' in value)) return value
      return { ...value, actionHook: hook.normalize?.(value.actionHook) ?? value.actionHook }
    },
    example: { actionHook: '/answered-by', thresholdWordCount: 9, timers: { noSpeechTimeoutMs: 4000 } },
  })
}

export function toDetection({ actionHook, ...form }: DetectionInput): MachineDetection {
  return toMachineDetection({ ...form, actionHook: toHookForm(actionHook) })
}
