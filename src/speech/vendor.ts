// The interface of a speech vendor: one shape, one file per vendor.
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'

/** One channel of 16-bit samples, little-endian. */
export interface Pcm {
  readonly sampleRate: number
  readonly bytes: Uint8Array
}

/**
 * The rate in Hz requested from vendors with a choice, that of a wideband codec. For G.711 it is halved at playback.
 */
export const spokenRate = 16_000

/** The settings of a speech credential for its vendor, by the names of the API: api_key, region, model_id ... */
export type Settings = Readonly<Record<string, unknown>>

export interface WantedVoice {
  readonly voice: string | null
  /** A BCP 47 tag. */
  readonly language: string | null
}

export interface ChosenVoice {
  readonly voice: string
  readonly language: string | null
  /** True when it is not the wanted voice. */
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
  /** Whether documents that begin with `<speak` are passed on whole. If not, only their words and pauses are. */
  readonly takesSsml: boolean
  choose(wanted: WantedVoice, settings: Settings): ChosenVoice
  /** Returns the settings that affect the sound of a text or name the voice's owner: part of a cached clip's name. */
  soundOf?(settings: Settings): string
  /** Gets ready, in the background. */
  warm?(): void
  /** Throws AppError speech_failed. */
  synthesize(utterance: Utterance, settings: Settings): Promise<Pcm>
}

export interface Recognizer {
  /** Returns the words of a short recording. Throws AppError speech_failed. */
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
  /** Part of the name of a cached clip: changes when the same text would sound different. */
  readonly version: string
  readonly needsCredential: boolean
  /** Returns the choices that are known without a request to the vendor: a start, not a complete list. */
  offer(): Offer
  readonly synthesizer?: Synthesizer
  readonly recognizer?: Recognizer
  /** Requests the choices from the vendor. Throws AppError speech_failed. */
  fetchOffer?(settings: Settings): Promise<Offer>
  stop?(): Promise<void>
}

export interface VendorOptions {
  /** A directory for this vendor alone. */
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
