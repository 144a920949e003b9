// Speech as the rest of the platform asks for it: the call engine, the API, and the directory that finds its credentials.
import type { Speech } from '../contracts/speech.ts'
import type { TestResults, Uses } from './try-vendor.ts'
import type { Offer, Pcm, Settings, WantedVoice } from './vendor.ts'

export interface SpeechService extends Speech, SpeechVendors {
  /** The clips that are kept: all of them, or those that one account has asked for since the start. */
  readonly cache: {
    size(account_sid?: string): Promise<number>
    clear(account_sid?: string): Promise<void>
    /** Returns what `speak` says, and keeps it under the name as long as there is room. */
    keep(name: string, account_sid: string, speak: () => Promise<Pcm>): Promise<Pcm>
  }
}

export interface CredentialQuery {
  readonly account_sid: string
  readonly vendor: string
  readonly label: string | null
  /** Some voices belong to one credential. */
  readonly voice: string | null
}

/** Which credential an account speaks with. */
export interface SpeechCredentials {
  find(query: CredentialQuery): Promise<FoundCredential | undefined>
}

export interface FoundCredential {
  readonly settings: Settings
  /** The sid of the account or service provider that the credential belongs to. */
  readonly owner: string
}

/** The vendors as the API asks about them, by the names that credentials have. */
export interface SpeechVendors {
  /** Throws the signal's reason when that aborts; what is wrong with the credential is a result. */
  test(trial: VendorTrial): Promise<TestResults>
  /** Speaks with this very credential and keeps nothing. Throws AppError speech_failed or synthesizer_unknown, or the signal's reason. */
  speak(request: SpeakRequest): Promise<Pcm>
  /** What to choose from; the vendor is asked when settings are given. Undefined for an unknown vendor. */
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
