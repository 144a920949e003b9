// Facts of the recording of a leg by a recording server (SIPREC).

export type SiprecFact =
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
