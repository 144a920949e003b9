// The test of a vendor with a credential: it really speaks, and listens to a short recording of the embedded voice.
import { AppError } from '../lib/errors.ts'
import type { Logger } from '../lib/log.ts'
import type { Pcm, Settings, SpeechVendor } from './vendor.ts'

export interface Uses {
  readonly tts: boolean
  readonly stt: boolean
}

export interface TestResult {
  readonly status: 'success' | 'fail' | 'not tested'
  /** The reason of the failure. */
  readonly reason?: string
}

export interface TestResults {
  readonly tts: TestResult
  readonly stt: TestResult
}

export interface Trial {
  readonly vendor: SpeechVendor | undefined
  readonly settings: Settings
  readonly uses: Uses
  /** Listens to a recording as to a call; undefined if no recogniser of calls has this vendor. */
  readonly hear?: ((recording: Pcm, language: string) => Promise<string>) | undefined
  /** Speech at 16 kHz, which every recognizer accepts. */
  readonly recording: () => Promise<Pcm>
  readonly log: Logger
}

export const sampleText = 'Hello. This is a short test of the telephone system.'
const sampleLanguage = 'en-US'

export async function tryVendor(trial: Trial): Promise<TestResults> {
  const { uses } = trial
  const [tts, stt] = await Promise.all([
    uses.tts ? outcomeOf(trial, speak(trial)) : undefined,
    uses.stt ? outcomeOf(trial, listen(trial)) : undefined,
  ])
  return { tts: tts ?? notTested, stt: stt ?? notTested }
}

const notTested: TestResult = { status: 'not tested' }

/** Returns the fault, or undefined if there is none. */
async function speak({ vendor, settings }: Trial): Promise<string | undefined> {
  const { synthesizer, name } = vendor ?? {}
  if (synthesizer === undefined) throw new NothingToTry()
  const { voice, language } = synthesizer.choose({ voice: null, language: null }, settings)
  const { bytes } = await synthesizer.synthesize(
    { text: sampleText, isSsml: false, voice, language },
    settings,
  )
  return bytes.length > 0 ? undefined : `${name} responded without sound`
}

async function listen({ vendor, settings, recording, hear }: Trial): Promise<string | undefined> {
  const { recognizer, name } = vendor ?? {}
  const transcribe = recognizer === undefined ? hear : recognizer.transcribe.bind(recognizer)
  if (transcribe === undefined) throw new NothingToTry()
  const words = await transcribe(await recording(), sampleLanguage, settings)
  return words === '' ? `${name ?? 'the vendor'} heard no words in the sample` : undefined
}

class NothingToTry extends Error {}

async function outcomeOf({ log, vendor }: Trial, attempt: Promise<string | undefined>): Promise<TestResult> {
  try {
    const fault = await attempt
    return fault === undefined ? { status: 'success' } : { status: 'fail', reason: fault }
  } catch (error) {
    if (error instanceof NothingToTry) return notTested
    if (!(error instanceof AppError)) throw error
    log.info({ vendor: vendor?.name, code: error.code, err: error }, 'speech credential failed its test')
    return { status: 'fail', reason: error.message }
  }
}
