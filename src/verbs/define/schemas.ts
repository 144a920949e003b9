// Options that several verbs share.
import { Type } from '../../lib/type.ts'
import { decibelPattern, maxGainDb, minGainDb } from '../../calls/verb.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const number = (description: string) => Type.Optional(Type.Number({ description }))
const anything = (description: string) => Type.Optional(Type.Object({}, { description }))

/** SIP headers. The call drops those that may not be set. */
const headers = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description }))

export const optional = { text, flag, number, anything, headers }

/** Returns the description of an option that is accepted and has no effect yet, and says so. */
export function untilServed(what: string, description: string): string {
  return `${description} Accepted, and of no effect until ${what} is served.`
}

export function oneOf<const T extends readonly string[]>(values: T, description: string) {
  return Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value as T[number])),
      { description },
    ),
  )
}

/** Requires a `description` of when it is sent, and what its answer does. */
export function hookFor(description: string) {
  return Type.Union(
    [
      Type.String(),
      Type.Object({
        url: Type.String({ description: 'An absolute URL, or a path on the application’s host.' }),
        method: text('POST (default) or GET; WS asks an http address, or a path, over WebSocket.'),
        username: text('For Basic authentication.'),
        password: text('For Basic authentication.'),
        basicAuth: Type.Optional(
          Type.Object(
            {
              username: Type.String({ description: 'In place of the one beside it.' }),
              password: Type.String({ description: 'In place of the one beside it.' }),
            },
            { description: 'Another place for the same two.' },
          ),
        ),
      }),
    ],
    { title: 'Hook', description },
  )
}

export const hook = hookFor(
  'An absolute URL, a path on the application’s host, or an object with either and credentials.',
)

/** Callers and agents of one account meet in the queue of this name. */
export const queueName = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The name of the queue, within the account. A queue exists while a call waits in it.',
})

/** The effect of an action hook's answer. */
export const replacingTheRest =
  'The verbs in its answer replace the rest of the list; after an empty answer the rest of the list runs.'

export const loop = Type.Optional(
  Type.Union([Type.Number({ minimum: 0 }), Type.Literal('forever')], {
    description: 'How often; 0 and "forever" repeat until something ends the verb. Default 1.',
  }),
)

export function decibels(description: string) {
  return Type.Optional(
    Type.Union(
      [
        Type.Number({ minimum: minGainDb, maximum: maxGainDb }),
        Type.String({ pattern: decibelPattern, 'x-rule': 'must be a number of dB, like "-10 dB"' }),
      ],
      { description },
    ),
  )
}

export const earlyMedia = flag(
  'If the call is not answered yet, the caller hears this as early media (183). Skipped if the INVITE of the caller has neither an offer nor 100rel.',
)

const voice = Type.Optional(
  Type.Union([Type.String(), Type.Object({})], { description: 'Voice of the vendor.' }),
)

export const synthesizer = Type.Object(
  {
    vendor: text('Speech vendor; "default" is the application’s.'),
    label: text('Which credential of the vendor.'),
    language: text('Language code; "default" is the application’s.'),
    voice,
    engine: oneOf(['standard', 'neural', 'generative', 'long-form'], 'Engine of vendors that have several.'),
    gender: oneOf(['MALE', 'FEMALE', 'NEUTRAL'], 'Gender of the voice.'),
    fallbackVendor: text('Used for the rest of the call after the first one has failed.'),
    fallbackLabel: text('Label of the fallback.'),
    fallbackLanguage: text('Language of the fallback.'),
    fallbackVoice: voice,
    options: anything('Passed to the vendor.'),
  },
  {
    title: 'Synthesizer',
    description: 'How the text is spoken; what is left out is the application’s.',
  },
)

const maxSeconds = 3600
const seconds = (description: string) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: maxSeconds, description }))
const verbs = (description: string) =>
  Type.Optional(Type.Array(Type.Object({}), { maxItems: 16, description }))

export const fillerNoise = Type.Object(
  {
    enable: Type.Boolean({ description: 'false: none is heard.' }),
    url: text('An audio file, heard again and again. Default: soft noise.'),
    startDelaySecs: seconds('It begins this long after the hook was sent, in seconds. Default 0.'),
  },
  {
    title: 'FillerNoise',
    description: 'The sound that the caller hears while an action hook has not answered.',
  },
)

export const actionHookDelayAction = Type.Object(
  {
    enabled: flag('false: nothing happens. Default true.'),
    noResponseTimeout: seconds('The first of `actions` runs this long after the hook was sent. Default 0.'),
    noResponseGiveUpTimeout: seconds(
      'The platform stops waiting for the answer after this long. Default: no limit of this kind.',
    ),
    retries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 1000,
        description:
          'With noResponseTimeout: this many actions run, with that time (half a second at least) before each; then the platform stops waiting for the answer. Default 0: one action runs.',
      }),
    ),
    actions: verbs('`say` and `play`: one is heard after the other.'),
    giveUpActions: verbs(
      'They replace the answer, which is dropped if it still comes. If there are none, the call is hung up.',
    ),
  },
  { title: 'ActionHookDelayAction', description: 'What happens while an action hook does not answer.' },
)

export const vad = Type.Object(
  {
    enable: flag('Whether voice activity is looked for.'),
    voiceMs: number('Voice for this long is speech.'),
    silenceMs: number('Silence for this long ends it.'),
    strategy: text('one-shot'),
    mode: number('0 to 3.'),
    vendor: text('silero or webrtc.'),
    threshold: number('0 to 1.'),
    speechPadMs: number('The audio before speech that is kept.'),
  },
  {
    title: 'Vad',
    description:
      'Voice activity detection. Accepted, and of no effect: each recogniser tells voice from silence by its own rules.',
  },
)

export const recognizer = Type.Object(
  {
    vendor: text('Speech vendor; "default" is the application’s.'),
    label: text('Which credential of the vendor.'),
    language: text('Language code; "default" is the application’s.'),
    fallbackVendor: text('Used when the first one fails.'),
    fallbackLabel: text('Label of the fallback.'),
    fallbackLanguage: text('Language of the fallback.'),
    hints: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Object({})]), { description: 'Words that are likely.' }),
    ),
    hintsBoost: number('Weight of the hints.'),
    altLanguages: Type.Optional(
      Type.Array(Type.String(), { description: 'Other languages of the speaker.' }),
    ),
    profanityFilter: flag('Mask profanity.'),
    interim: flag('Report partial transcripts.'),
    singleUtterance: flag('Stop at the first pause.'),
    dualChannel: flag('Recognise both parties.'),
    separateRecognitionPerChannel: flag('One transcript per party.'),
    punctuation: flag('Add punctuation.'),
    enhancedModel: flag('The vendor’s better model.'),
    words: flag('Report words with times.'),
    diarization: flag('Tell speakers apart.'),
    identifyChannels: flag('Name the channel of each word.'),
    requestSnr: flag('Report the signal-to-noise ratio.'),
    autogeneratePrompt: flag('Let the platform word the prompt of the model.'),
    diarizationMinSpeakers: number('At least this many.'),
    diarizationMaxSpeakers: number('At most this many.'),
    naicsCode: number('Industry of the call.'),
    initialSpeechTimeoutMs: number('Wait this long for the first word.'),
    asrTimeout: number('Transcripts are joined until this many seconds pass without words.'),
    fastRecognitionTimeout: number(
      'A transcript that may still change is taken for the final one after this many seconds without a newer one.',
    ),
    minConfidence: number('Below this a transcript is reported as stt-low-confidence.'),
    asrDtmfTerminationDigit: text('A key that ends speech.'),
    model: text('Model of the vendor.'),
    vocabularyName: text('Custom vocabulary.'),
    vocabularyFilterName: text('Custom filter.'),
    azureServiceEndpoint: text('Endpoint of a private deployment.'),
    azureSttEndpointId: text('Custom model.'),
    filterMethod: oneOf(['remove', 'mask', 'tag'], 'What a filter does.'),
    outputFormat: oneOf(['simple', 'detailed'], 'Detail of the result.'),
    profanityOption: oneOf(['masked', 'removed', 'raw'], 'How profanity is shown.'),
    interactionType: text('Kind of conversation, for the vendor.'),
    vad: Type.Optional(vad),
  },
  {
    title: 'Recognizer',
    description:
      'How speech is recognised; what is left out is that of `config`, or of the application. `<vendor>Options` of a vendor are passed to it.',
  },
)

/** Shapes with a title, which the reference shows only once. */
export const sharedShapes = [actionHookDelayAction, fillerNoise, hook, recognizer, synthesizer, vad]
