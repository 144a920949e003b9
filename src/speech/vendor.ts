// What a speech vendor is to the platform: one shape, one file per vendor.
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'

/** One channel of 16-bit samples, little-endian. */
export interface Pcm {
  readonly sampleRate: number
  readonly bytes: Uint8Array
}

/** Asked of vendors that offer a choice, in Hz: what a wide codec carries. For G.711 it is halved where it is played. */
export const spokenRate = 16_000

/** What a speech credential holds for its vendor, by the names of the API: api_key, region, model_id ... */
export type Settings = Readonly<Record<string, unknown>>

export interface WantedVoice {
  readonly voice: string | null
  /** BCP 47. */
  readonly language: string | null
}

export interface ChosenVoice {
  readonly voice: string
  readonly language: string | null
  /** True when it is not what was wanted. */
  readonly isStandIn: boolean
}

export interface Utterance {
  /** At most `maxUtteranceLength` characters of plain text, or a whole SSML document. */
  readonly text: string
  readonly isSsml: boolean
  readonly voice: string
  readonly language: string | null
}

export interface Synthesizer {
  /** Documents that begin with `<speak` are handed over whole; without it, their words and pauses. */
  readonly takesSsml: boolean
  choose(wanted: WantedVoice, settings: Settings): ChosenVoice
  /** Those settings that change how a text sounds, or whose voice it is: part of what a cached clip is found by. */
  soundOf?(settings: Settings): string
  /** Gets ready, in the background. */
  warm?(): void
  /** Throws AppError speech_failed. */
  synthesize(utterance: Utterance, settings: Settings): Promise<Pcm>
}

export interface Recognizer {
  /** The words of a short recording. Throws AppError speech_failed. */
  transcribe(recording: Pcm, language: string, settings: Settings): Promise<string>
}

export interface Choice {
  readonly value: string
  readonly name: string
}

export interface VoicesOfLanguage extends Choice {
  readonly voices: readonly Choice[]
}

/** Languages, voices and models to choose from. */
export interface Offer {
  readonly tts?: readonly VoicesOfLanguage[]
  readonly stt?: readonly Choice[]
  readonly models?: readonly Choice[]
  readonly sttModels?: readonly Choice[]
}

export interface SpeechVendor {
  readonly name: string
  /** Part of what a cached clip is found by: changes when the same text would sound different. */
  readonly version: string
  readonly needsCredential: boolean
  /** What is known without asking the vendor: a start, not everything there is. */
  offer(): Offer
  readonly synthesizer?: Synthesizer
  readonly recognizer?: Recognizer
  /** Asks the vendor. Throws AppError speech_failed. */
  fetchOffer?(settings: Settings): Promise<Offer>
  stop?(): Promise<void>
}

export interface VendorOptions {
  /** A directory of the vendor's own. */
  readonly scratchDir: string
  readonly outgoing: Outgoing
  readonly clock: Clock
  readonly log: Logger
  /** The most of a waiting line that one tenant may take while no other waits, in percent. */
  readonly sharePercent?: number | undefined
}

export type VendorMaker = (options: VendorOptions) => SpeechVendor

/** Longer texts are cut at the ends of sentences. */
export const maxUtteranceLength = 900
