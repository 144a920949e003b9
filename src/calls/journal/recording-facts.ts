// The facts about the recordings of a leg: by the platform, and by a recording server (SIPREC).

/** The recording of the leg begins here. */
export type RecordingStartedFact = { readonly type: 'recording-started'; readonly recording_url: string }

export type RecordingFact =
  | SiprecFact
  | { readonly type: 'recording-paused' | 'recording-resumed' | 'recording-stopped' }
  /** This much of the audio could not be kept. The recording is silent there. */
  | { readonly type: 'recording-gap'; readonly missing_ms: number }
  | {
      readonly type: 'recording-ended'
      readonly duration_ms: number
      readonly bytes: number
      /** The reason, if it ended before its leg. */
      readonly because?: string | undefined
    }
  /** Added after the call: where the recording is stored, or why it is not. */
  | { readonly type: 'recording-stored'; readonly place: 'bucket' | 'disk'; readonly bytes: number }
  | { readonly type: 'recording-failed'; readonly because: string }

/** The facts about a recording by a recording server. */
type SiprecFact =
  | {
      readonly type: 'siprec-started'
      /** The SIP URI of the recording server. */
      readonly server: string
      /** The Call-ID of the dialog with the server. */
      readonly sip_call_id: string
      /** The name that the application gave to the recording. */
      readonly recording_id?: string
    }
  | { readonly type: 'siprec-paused' | 'siprec-resumed' }
  | { readonly type: 'siprec-ended'; readonly because: string }
