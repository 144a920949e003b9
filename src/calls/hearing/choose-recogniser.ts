// The choice of a recogniser: from the verb, else from `config`, else from the application.
import { AppError } from '../../lib/errors.ts'
import { soundVendor, type Hint, type RecognitionWishes } from '../../contracts/recognition.ts'
import type { CallScript } from '../ports.ts'
import type { RecognizerForm } from '../verb/recognition.ts'

export interface RecogniserName {
  readonly vendor: string
  readonly label: string | null
  readonly language: string
}

export interface RecogniserChoice {
  readonly first: RecogniserName
  /** Used once the first has failed. */
  readonly fallback: RecogniserName | undefined
  readonly wishes: Omit<RecognitionWishes, 'language' | 'vendorOptions'>
  /** All of verb and `config`. */
  readonly form: RecognizerForm
  /** A sentence if hints were left out. */
  readonly note: string | undefined
}

type Defaults = Pick<
  CallScript,
  | 'speech_recognizer_vendor'
  | 'speech_recognizer_language'
  | 'speech_recognizer_label'
  | 'fallback_recognizer'
>

const presetLanguage = 'en-US'
const maxHints = 500
const maxHintChars = 10_000

/** Throws AppError recognizer_unknown if no vendor is chosen anywhere, or `none`, which hears no words. */
export function chooseRecogniser(
  given: RecognizerForm | undefined,
  ofSession: RecognizerForm,
  script: Defaults,
): RecogniserChoice {
  const form = merged(ofSession, given ?? {})
  const vendor = named(form.vendor) ?? named(script.speech_recognizer_vendor)
  if (vendor === undefined || vendor === soundVendor) throw noVendor()
  const isOwn = named(form.vendor) !== undefined
  const label = isOwn ? (named(form.label) ?? null) : (named(form.label) ?? script.speech_recognizer_label)
  const language = named(form.language) ?? script.speech_recognizer_language ?? presetLanguage
  const { hints, note } = hintsOf(form)
  return {
    first: { vendor, label, language },
    fallback: fallbackOf(form, script, language),
    wishes: {
      hints,
      altLanguages: form.altLanguages ?? [],
      model: form.model,
      punctuation: form.punctuation,
      profanityFilter: form.profanityFilter,
    },
    form,
    note,
  }
}

/** The choice of a recogniser that hears no words: only whether there is a voice, and beeps. It needs no credential. */
export const soundAlone: RecogniserChoice = {
  first: { vendor: soundVendor, label: null, language: presetLanguage },
  fallback: undefined,
  wishes: { hints: [], altLanguages: [] },
  form: {},
  note: undefined,
}

function noVendor(): AppError {
  return new AppError('recognizer_unknown', 'no vendor of speech recognition is chosen')
}

/** Returns a text that is not "default", which means that of the application. */
function named(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== 'default' ? value : undefined
}

/** Adds the members of the verb to those of the session: lists are joined, objects are merged. */
function merged(session: RecognizerForm, verb: RecognizerForm): RecognizerForm {
  const all: Record<string, unknown> = { ...session }
  for (const [key, value] of Object.entries(verb)) {
    const before = all[key]
    if (Array.isArray(before) && Array.isArray(value)) all[key] = [...before, ...value]
    else if (isPlain(before) && isPlain(value)) all[key] = { ...before, ...value }
    else if (value !== undefined) all[key] = value
  }
  return all
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fallbackOf(
  form: RecognizerForm,
  { fallback_recognizer: ofApplication }: Defaults,
  language: string,
): RecogniserName | undefined {
  const own = named(form.fallbackVendor)
  if (own === soundVendor) return undefined
  if (own !== undefined)
    return {
      vendor: own,
      label: named(form.fallbackLabel) ?? null,
      language: named(form.fallbackLanguage) ?? language,
    }
  if (ofApplication === undefined) return undefined
  return {
    vendor: ofApplication.vendor,
    label: ofApplication.label ?? null,
    language: ofApplication.language ?? language,
  }
}

function hintsOf({ hints: given = [], hintsBoost }: RecognizerForm) {
  const hints: Hint[] = []
  let chars = 0
  for (const one of given) {
    const phrase = typeof one === 'string' ? one : one.phrase
    const boost = typeof one === 'string' || typeof one.boost !== 'number' ? hintsBoost : one.boost
    if (typeof phrase !== 'string' || phrase.trim() === '') continue
    chars += phrase.length
    if (hints.length >= maxHints || chars > maxHintChars) {
      const note = `of ${given.length} hints ${hints.length} are used: at most ${maxHints}, with ${maxHintChars} characters`
      return { hints, note }
    }
    hints.push({ phrase, boost })
  }
  return { hints, note: undefined }
}

/** The member of `recognizer` with the options of a vendor alone. */
const optionsNames: Readonly<Record<string, string>> = {
  assemblyai: 'assemblyAiOptions',
  aws: 'awsOptions',
  polly: 'awsOptions',
  deepgram: 'deepgramOptions',
  deepgramflux: 'deepgramOptions',
  elevenlabs: 'elevenlabsOptions',
  gladia: 'gladiaOptions',
  google: 'googleOptions',
  microsoft: 'azureOptions',
  openai: 'openaiOptions',
  whisper: 'openaiOptions',
  soniox: 'sonioxOptions',
  speechmatics: 'speechmaticsOptions',
  vosk: 'voskOptions',
}

/** Members of `recognizer` itself that belong to one vendor. */
const plainOptions: Readonly<Record<string, readonly string[]>> = {
  aws: ['vocabularyName', 'vocabularyFilterName', 'filterMethod'],
  microsoft: [
    'outputFormat',
    'profanityOption',
    'requestSnr',
    'initialSpeechTimeoutMs',
    'azureServiceEndpoint',
    'azureSttEndpointId',
  ],
  google: ['enhancedModel', 'words', 'diarization', 'interactionType', 'naicsCode', 'singleUtterance'],
}

export function vendorOptionsOf(vendor: string, form: RecognizerForm): Readonly<Record<string, unknown>> {
  const name = vendor.startsWith('custom:') ? 'customOptions' : optionsNames[vendor]
  const own = name === undefined ? undefined : form[name]
  const plain = (plainOptions[vendor] ?? []).flatMap((key) =>
    form[key] === undefined ? [] : [[key, form[key]]],
  )
  return { ...(Object.fromEntries(plain) as object), ...(isPlain(own) ? own : {}) }
}
