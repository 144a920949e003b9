// Facts of the recordings of a leg: by the platform, and by a recording server (SIPREC).

/** The sound of the leg is kept from here on. */
export type RecordingStartedFact = { readonly type: 'recording-started'; readonly recording_url: string }

export type RecordingFact =
  | SiprecFact
  | { readonly type: 'recording-paused' | 'recording-resumed' | 'recording-stopped' }
  /** So much of it could not be kept, and is silent. */
  | { readonly type: 'recording-gap'; readonly missing_ms: number }
  | {
      readonly type: 'recording-ended'
      readonly duration_ms: number
      readonly bytes: number
      /** Where it ended before its leg. */
      readonly because?: string | undefined
    }
  /** After the call: where it is, or why it is nowhere. */
  | { readonly type: 'recording-stored'; readonly place: 'bucket' | 'disk'; readonly bytes: number }
  | { readonly type: 'recording-failed'; readonly because: string }

/** By a recording server. */
type SiprecFact =
  | {
      readonly type: 'siprec-started'
      /** The SIP URI of the recording server. */
      readonly server: string
      /** Names the dialog with it. */
      readonly sip_call_id: string
      /** As the application calls the recording. */
      readonly recording_id?: string
    }
  | { readonly type: 'siprec-paused' | 'siprec-resumed' }
  | { readonly type: 'siprec-ended'; readonly because: string }
