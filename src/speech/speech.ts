// Speech as other parts use it: the call engine, the API, and the directory that finds the credentials.
import type { Speech } from '../contracts/speech.ts'
import type { TestResults, Uses } from './try-vendor.ts'
import type { Offer, Pcm, Settings, WantedVoice } from './vendor.ts'

export interface SpeechService extends Speech, SpeechVendors {
  /** The kept clips: all of them, or those that one account has requested since the start. */
  readonly cache: {
    size(account_sid?: string): Promise<number>
    clear(account_sid?: string): Promise<void>
    /** Returns the result of `speak`, and keeps it under the name as long as there is room. */
    keep(name: string, account_sid: string, speak: () => Promise<Pcm>): Promise<Pcm>
  }
}

export interface CredentialQuery {
  readonly account_sid: string
  readonly vendor: string
  readonly label: string | null
  /** The voice, because some voices belong to one credential. */
  readonly voice: string | null
  /** Its use: to speak, or to recognise speech. */
  readonly use: 'tts' | 'stt'
}

/** Finds the credential with which an account speaks or hears. */
export interface SpeechCredentials {
  find(query: CredentialQuery): Promise<FoundCredential | undefined>
}

export interface FoundCredential {
  readonly settings: Settings
  /** The sid of the account or service provider that the credential belongs to. */
  readonly owner: string
}

/** The vendors as the API uses them, by the names that credentials have. */
export interface SpeechVendors {
  /** Tries a credential; a fault of the credential is a result. Throws the signal's reason when that aborts. */
  test(trial: VendorTrial): Promise<TestResults>
  /**
   * Speaks with this credential, keeps nothing. Throws AppError speech_failed, synthesizer_unknown, or the signal's
   * reason.
   */
  speak(request: SpeakRequest): Promise<Pcm>
  /** Returns the choices of a vendor; with settings they are requested from it. Undefined for an unknown vendor. */
  offer(request: OfferRequest): Promise<Offer | undefined>
}

export interface VendorTrial {
  readonly vendor: string
  readonly settings: Settings
  readonly uses: Uses
  readonly signal?: AbortSignal
}

export type SpeakRequest = Omit<VendorTrial, 'uses'> & WantedVoice & { readonly text: string }

export type OfferRequest = Pick<VendorTrial, 'vendor' | 'signal'> & {
  readonly settings?: Settings | undefined
}
