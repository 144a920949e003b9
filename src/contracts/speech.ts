// Speech and audio for calls: clips in borrowed files.

export interface SpeechRequest {
  readonly account_sid: string
  readonly text: string
  readonly vendor: string | null
  readonly language: string | null
  readonly voice: string | null
  readonly label: string | null
  readonly signal?: AbortSignal
}

/** An audio file that the borrower must release, as it may be temporary. */
export interface BorrowedClip {
  readonly path: string
  /** Idempotent. */
  release(): void
}

export interface SpokenClip extends BorrowedClip {
  /** True if the embedded voice replaced a vendor, voice or language that is not available. */
  readonly fallback: boolean
  /** True if the vendor is not available: it is not known, or there is no credential for it. */
  readonly isVendorMissing: boolean
  /** A sentence about the replacement. */
  readonly note?: string
}

export interface Speech {
  /** Throws AppError speech_failed or synthesizer_unknown, or the signal's reason. */
  synthesize(request: SpeechRequest): Promise<SpokenClip>
  /** Prepares the speech engine, so that the first sentence need not wait for it. */
  warm(): void
}

export interface AudioFetcher {
  /** Throws AppError audio_not_found, audio_not_supported, hook_refused_address or overloaded. */
  fetch(url: string, options: { readonly signal?: AbortSignal }): Promise<BorrowedClip>
}
