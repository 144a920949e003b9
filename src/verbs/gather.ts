// The verb gather: asks a question that is answered by keys or by voice, with a prompt.
import { Type } from '../lib/type.ts'
import type { Static } from 'typebox'
import type { Answer, BackgroundRequest, DigitRules, HookForm } from '../calls/verb.ts'
import { defineVerb, type Given } from './define/define-verb.ts'
import { toWishes, waitProperties } from './define/hook-wait.ts'
import { answerFields, toForm, toSpeechRules } from './define/recognizer.ts'
import { playProperties, playUrls, sayProperties, speak } from './define/prompt.ts'
import { hookFor, optional, recognizer, replacingTheRest, vad } from './define/schemas.ts'

const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
const seconds = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }))

const schema = Type.Object({
  input: Type.Optional(
    Type.Array(Type.Union([Type.Literal('speech'), Type.Literal('digits'), Type.Literal('dtmf')]), {
      description:
        'The kinds of input that are accepted: `speech`, `digits`, or both; dtmf means digits. Default ["digits"].',
    }),
  ),
  actionHook: Type.Optional(
    hookFor(
      `Sent when the entry is complete, as \`reason\` dtmfDetected with its \`digits\`; when something was said, as \`reason\` speechDetected with \`speech\`, or stt-low-confidence below \`minConfidence\`; when no recogniser can be had and no digits are taken, as \`reason\` error with \`details\`; or when a pause ends a question whose entry is not complete, as \`reason\` timeout, with the digits as \`incomplete_digits\` if some were pressed, but fewer than \`minDigits\`. ${replacingTheRest}`,
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
    'The question is over after this long without a digit or a word, counted from the end of the prompt and from each of them. Default 15; 0 never.',
  ),
  speechTimeout: optional.number(
    'Accepted, and of no effect, as on other platforms of this interface: `recognizer.asrTimeout` is the pause that ends speech.',
  ),
  bargein: optional.flag('Words stop the prompt. Default false.'),
  dtmfBargein: optional.flag('Digits stop the prompt. Default true.'),
  minBargeinWordCount: count('With bargein: the prompt stops at this many words. Default 1.'),
  sensitive: optional.flag(
    'true: the journal and captures of the call show the keys as x, until another gather; false: they are shown. Default: the setting of the account.',
  ),
  listenDuringPrompt: optional.flag('Whether digits pressed during the prompt count. Default true.'),
  partialResultHook: Type.Optional(
    hookFor(
      'Sent with `speech` whose words may still change. It is left out while another one has no answer. Its answer is ignored.',
    ),
  ),
  recognizer: Type.Optional(recognizer),
  vad: Type.Optional(vad),
  say: Type.Optional(Type.Object(sayProperties, { description: 'Prompt.' })),
  play: Type.Optional(Type.Object(playProperties, { description: 'Prompt.' })),
  ...waitProperties,
})

type GatherOptions = Static<typeof schema>
type DigitOptions = Pick<
  GatherOptions,
  | 'input'
  | 'timeout'
  | 'listenDuringPrompt'
  | 'dtmfBargein'
  | 'numDigits'
  | 'minDigits'
  | 'maxDigits'
  | 'finishOnKey'
  | 'interDigitTimeout'
>

const defaultTimeoutSeconds = 15

export const gather = defineVerb({
  name: 'gather',
  summary: 'Collects digits or words from the caller, with an optional prompt.',
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
  uses: ['voice', 'digits', 'hearing', 'hooks', 'time', 'settings'],
  schema,
  isEarlyMedia: ({ say, play }) => say?.earlyMedia === true || play?.earlyMedia === true,
  async execute(options, given) {
    const { digits, hooks, settings, signal } = given
    // Keys that come late are hidden too, until another gather changes that.
    digits.hide(options.sensitive)
    const answer = await askFor(options, given)
    if (answer.reason === 'stopped' || options.actionHook === undefined) return
    const fields = answerFields(answer, settings.wantsLatency)
    await hooks.ask(options.actionHook, fields, signal, toWishes(options, settings))
  },
})

/** The options of a gather that a question in the background has too. */
export const backgroundProperties = {
  input: schema.properties.input,
  partialResultHook: schema.properties.partialResultHook,
  finishOnKey: schema.properties.finishOnKey,
  numDigits: schema.properties.numDigits,
  minDigits: schema.properties.minDigits,
  maxDigits: schema.properties.maxDigits,
  interDigitTimeout: schema.properties.interDigitTimeout,
  dtmfBargein: schema.properties.dtmfBargein,
  minBargeinWordCount: schema.properties.minBargeinWordCount,
}

const background = Type.Object(backgroundProperties)

export function toBackgroundQuestion(
  options: Static<typeof background>,
  { hooks, settings }: Pick<Given<'hooks' | 'settings'>, 'hooks' | 'settings'>,
): BackgroundRequest['question'] {
  const { partialResultHook, input } = options
  const tell = teller(hooks)
  return {
    // It ends with the call, or by another `bargeIn`.
    digits: toRules({ ...options, timeout: 0 }),
    speech:
      input?.includes('speech') === true
        ? toSpeechRules(settings.recognition, { ...options, bargein: true })
        : undefined,
    recognizer: undefined,
    onPartial: (speech) => tell(partialResultHook, { speech }),
  }
}

/** Returns a function that sends a hook whose answer is ignored, unless an earlier one has none yet. */
function teller(hooks: Given<'hooks'>['hooks']) {
  let isSending = false
  return (hook: HookForm | undefined, fields: Readonly<Record<string, unknown>>): void => {
    if (hook === undefined || isSending) return
    isSending = true
    void hooks.tell(hook, fields).finally(() => (isSending = false))
  }
}

function askFor(
  options: GatherOptions,
  given: Given<'voice' | 'digits' | 'hearing' | 'hooks' | 'time' | 'settings'>,
): Promise<Answer> {
  const { digits, hearing, hooks, settings, signal } = given
  const { partialResultHook, actionHook, recognizer: form } = options
  const rules = toRules(options)
  const prompting = (promptSignal: AbortSignal): Promise<void> =>
    prompt(options, { ...given, signal: promptSignal })
  if (options.input?.includes('speech') !== true) return digits.collect({ rules, prompt: prompting, signal })
  const send = teller(hooks)
  // Words that may still change are not sent while keys are hidden.
  const tell: typeof send = (hook, fields) => {
    if (options.sensitive !== true) send(hook, fields)
  }
  return hearing.ask({
    digits: rules,
    speech: toSpeechRules({ ...settings.recognition, ...toForm(form) }, options),
    recognizer: toForm(form),
    prompt: prompting,
    onPartial: (speech) => tell(partialResultHook, { speech }),
    // The early end of a turn is sent so that an application may begin to think.
    onTurnSign: (speech) =>
      partialResultHook === undefined
        ? tell(actionHook, { reason: 'speechDetected', speech })
        : tell(partialResultHook, { speech }),
    signal,
  })
}

async function prompt({ say, play }: GatherOptions, given: Given<'voice' | 'time'>): Promise<void> {
  if (say !== undefined) await speak(given, say)
  if (play !== undefined) await playUrls(given, play)
}

export function toRules(options: DigitOptions): DigitRules {
  const { numDigits, minDigits, maxDigits, finishOnKey, interDigitTimeout } = options
  const input = options.input ?? ['digits']
  return {
    takesDigits: input.includes('digits') || input.includes('dtmf'),
    timeoutMs: (options.timeout ?? defaultTimeoutSeconds) * 1000,
    listensDuringPrompt: options.listenDuringPrompt ?? true,
    stopsPrompt: options.dtmfBargein ?? true,
    ...(numDigits === undefined || numDigits === 0 ? {} : { numDigits }),
    ...(maxDigits === undefined || maxDigits === 0 ? {} : { maxDigits }),
    minDigits,
    finishOnKey,
    ...(interDigitTimeout === undefined || interDigitTimeout === 0
      ? {}
      : { interDigitTimeoutMs: interDigitTimeout * 1000 }),
  }
}
