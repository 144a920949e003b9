// The verb gather: collects digits, with a prompt.
import { Type } from '../lib/type.ts'
import type { Static } from 'typebox'
import type { DigitRules } from '../calls/verb.ts'
import { AppError } from '../lib/errors.ts'
import { defineVerb, type Given } from './define/define-verb.ts'
import { toWishes, waitProperties } from './define/hook-wait.ts'
import { playProperties, playUrls, sayProperties, speak } from './define/prompt.ts'
import {
  hookFor,
  optional,
  recognizer,
  replacingTheRest,
  speechRecognition,
  untilServed,
  vad,
} from './define/schemas.ts'

const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
const seconds = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }))

const schema = Type.Object({
  input: Type.Optional(
    Type.Array(Type.Union([Type.Literal('speech'), Type.Literal('digits'), Type.Literal('dtmf')]), {
      description: 'The kinds of input that are accepted; dtmf means digits. Default ["digits"].',
    }),
  ),
  actionHook: Type.Optional(
    hookFor(
      `Sent when the entry is complete, as \`reason\` dtmfDetected with its \`digits\`, or when a pause ends a question whose entry is not complete, as \`reason\` timeout, with the digits as \`incomplete_digits\` if some were pressed, but fewer than \`minDigits\`. ${replacingTheRest}`,
    ),
  ),
  finishOnKey: optional.text('A key that ends the entry and is not part of it.'),
  numDigits: count('Complete at this many.'),
  minDigits: count('The fewest digits of an entry that a pause completes. Default 1.'),
  maxDigits: count('Complete at this many.'),
  interDigitTimeout: seconds(
    'From the first digit on, the question is over after a pause of this length, and `timeout` has no effect any more. Default, and 0: `timeout`.',
  ),
  timeout: seconds(
    'The question is over after this long without a digit, counted from the end of the prompt and from each digit. Default 15; 0 never.',
  ),
  speechTimeout: optional.number(untilServed(speechRecognition, 'Pause that ends speech.')),
  bargein: optional.flag(untilServed(speechRecognition, 'Speech stops the prompt.')),
  dtmfBargein: optional.flag('Digits stop the prompt. Default true.'),
  minBargeinWordCount: optional.number(untilServed(speechRecognition, 'Words that count as barge-in.')),
  sensitive: optional.flag(
    'true: the journal and captures of the call show the keys as x, until another gather; false: they are shown. Default: the setting of the account.',
  ),
  listenDuringPrompt: optional.flag('Whether digits pressed during the prompt count. Default true.'),
  partialResultHook: Type.Optional(
    hookFor(untilServed(speechRecognition, 'Sent with words that may still change.')),
  ),
  recognizer: Type.Optional(recognizer),
  vad: Type.Optional(vad),
  say: Type.Optional(Type.Object(sayProperties, { description: 'Prompt.' })),
  play: Type.Optional(Type.Object(playProperties, { description: 'Prompt.' })),
  ...waitProperties,
})

type GatherOptions = Static<typeof schema>

const defaultTimeoutSeconds = 15

export const gather = defineVerb({
  name: 'gather',
  summary: 'Collects digits from the caller, with an optional prompt.',
  example: [
    {
      verb: 'gather',
      input: ['digits'],
      numDigits: 1,
      timeout: 8,
      say: { text: 'For sales, press one.' },
      actionHook: '/choice',
    },
    { verb: 'say', text: 'I heard nothing. Goodbye.' },
  ],
  needs: 'audio',
  uses: ['voice', 'digits', 'hooks', 'time', 'notes', 'settings'],
  schema,
  isEarlyMedia: ({ say, play }) => say?.earlyMedia === true || play?.earlyMedia === true,
  async execute(options, given) {
    const { digits, hooks, notes, settings, signal } = given
    if (options.input?.includes('speech') === true)
      notes.goWithout(
        new AppError('recognizer_unknown', 'gather: no speech recogniser is configured; speech is not heard'),
      )
    // Keys that come late are hidden too, until another gather changes that.
    digits.hide(options.sensitive)
    const collected = await digits.collect({
      rules: toRules(options),
      prompt: (promptSignal) => prompt(options, { ...given, signal: promptSignal }),
      signal,
    })
    if (collected.reason === 'stopped' || options.actionHook === undefined) return
    const result =
      collected.reason === 'digits'
        ? { reason: 'dtmfDetected', digits: collected.digits }
        : { reason: 'timeout', ...tooFew(collected.digits) }
    await hooks.ask(options.actionHook, result, signal, toWishes(options, settings))
  },
})

/** Returns the digits under a name of their own, since applications take `digits` for an entry. */
function tooFew(digits: string): { readonly incomplete_digits?: string } {
  return digits === '' ? {} : { incomplete_digits: digits }
}

async function prompt({ say, play }: GatherOptions, given: Given<'voice' | 'time'>): Promise<void> {
  if (say !== undefined) await speak(given, say)
  if (play !== undefined) await playUrls(given, play)
}

function toRules(options: GatherOptions): DigitRules {
  const { numDigits, minDigits, maxDigits, finishOnKey, interDigitTimeout } = options
  const input = options.input ?? ['digits']
  return {
    takesDigits: input.includes('digits') || input.includes('dtmf'),
    timeoutMs: (options.timeout ?? defaultTimeoutSeconds) * 1000,
    listensDuringPrompt: options.listenDuringPrompt ?? true,
    stopsPrompt: options.dtmfBargein ?? true,
    ...(numDigits === undefined || numDigits === 0 ? {} : { numDigits }),
    ...(maxDigits === undefined || maxDigits === 0 ? {} : { maxDigits }),
    ...(minDigits === undefined ? {} : { minDigits }),
    ...(finishOnKey === undefined ? {} : { finishOnKey }),
    ...(interDigitTimeout === undefined || interDigitTimeout === 0
      ? {}
      : { interDigitTimeoutMs: interDigitTimeout * 1000 }),
  }
}
