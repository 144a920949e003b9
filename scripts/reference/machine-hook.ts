// The hook of answering machine detection.
import { field, sipAddress, type HookDescription } from './hook-fields.ts'

export const machineHook: HookDescription = {
  name: 'Hook of answering machine detection',
  key: 'machine',
  purpose:
    'The `actionHook` of `amd` in `config`, `dial` and `POST /Calls` is sent who has answered, once, and what follows. `amd_stopped` is the last request. No accuracy is promised: people who answer with many words, and machines with short greetings, are taken for the other.',
  answer: 'A JSON array of verbs, which run immediately in place of those that run.',
  fields: [
    sipAddress,
    field('verb_id', 'text', 'The `id` of the verb that runs.', 'the verb has one'),
    field(
      'type',
      'text',
      '`amd_human_detected`; `amd_machine_detected`; `amd_machine_stopped_speaking`, when the greeting of a machine has ended; `amd_tone_detected`, a beep; `amd_no_speech_detected`; `amd_decision_timeout`; `amd_error`, when the recogniser has failed; `amd_stopped`.',
    ),
    field(
      'reason',
      'text',
      'Of a person: `short greeting`, or `cadence` (a short turn and a pause). Of a machine: `long greeting`, `hint` (a phrase that machines say), `digit count`, or `cadence` (a long turn, or a beep). `cadence` comes from detection without a recogniser.',
      'a person or a machine was detected',
    ),
    field(
      'greeting',
      'text',
      'What was said.',
      'the reason is `short greeting`, `long greeting` or `digit count`',
    ),
    field('hint', 'text', 'The phrase.', 'the reason is `hint`'),
    field('language', 'text', 'The language of what was said.', 'a recogniser has decided'),
    field('frequency', 'number', 'The frequency of the beep, in whole Hz.', '`amd_tone_detected`'),
    field('variance', 'number', 'The variance of that frequency, a whole number.', '`amd_tone_detected`'),
    field('error', 'text', 'The reason of the failure.', '`amd_error`'),
    field('dial_call_sid', 'text', 'The leg that is heard.', 'the `amd` is that of a `dial`'),
  ],
}
