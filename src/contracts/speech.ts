// Speech and audio as a call plays them: clips in files that are lent out.

export interface SpeechRequest {
  readonly account_sid: string
  readonly text: string
  readonly vendor: string | null
  readonly language: string | null
  readonly voice: string | null
  readonly label: string | null
  readonly signal?: AbortSignal
}

/** An audio file that its borrower gives back: it may be a temporary one. */
export interface BorrowedClip {
  readonly path: string
  /** Idempotent. */
  release(): void
}

export interface SpokenClip extends BorrowedClip {
  /** True when the embedded voice stood in for a vendor, voice or language that is not available. */
  readonly fallback: boolean
  /** True when it is the vendor that is not available: it is not known, or there is no credential for it. */
  readonly isVendorMissing: boolean
  /** What stood in for what, in a sentence. */
  readonly note?: string
}

export interface Speech {
  /** Throws AppError speech_failed or synthesizer_unknown, or the signal's reason. */
  synthesize(request: SpeechRequest): Promise<SpokenClip>
  /** Says that speech will be wanted soon, so that the first sentence waits for nothing. */
  warm(): void
}

export interface AudioFetcher {
  /** Throws AppError audio_not_found, audio_not_supported, hook_refused_address or overloaded. */
  fetch(url: string, options: { readonly signal?: AbortSignal }): Promise<BorrowedClip>
}
