// The target of a call of the platform.

export interface Credentials {
  readonly username: string
  readonly password: string
}

export type Target =
  | {
      readonly type: 'phone'
      readonly number: string
      /** The name of the carrier to use. An unknown name is ignored. */
      readonly trunk?: string
      /** The carrier to use, and no other. */
      readonly voip_carrier_sid?: string
      readonly auth?: Credentials
    }
  /** `name`, a SIP client of the account; `realm` is the account's own. */
  | { readonly type: 'user'; readonly name: string; readonly realm: string }
  | {
      readonly type: 'sip'
      readonly sipUri: string
      /** A SIP URI to which the request is sent first. */
      readonly proxy?: string
      /** The required audio encryption, by keys in SDP or by DTLS. Without it there is no call. */
      readonly srtpEncryption?: 'sdes' | 'dtls'
      readonly auth?: Credentials
    }
  | {
      readonly type: 'teams'
      /** The number in the form of the tenant, usually with a plus. */
      readonly number: string
      /** The FQDN of the tenant; left out: the only one of the account. */
      readonly tenant?: string
      /** Calls the voice mail of the number. */
      readonly isVoiceMail?: boolean
      /** A URI from Microsoft that is called instead of the number. It is sent back unchanged. */
      readonly uri?: string
    }

export type TargetOf<T extends Target['type']> = Extract<Target, { readonly type: T }>
