// Whom a call of the platform is to reach.

export interface Credentials {
  readonly username: string
  readonly password: string
}

export type Target =
  | {
      readonly type: 'phone'
      readonly number: string
      /** Name of the carrier to use; an unknown one counts as none. */
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
      /** A SIP URI: where the request is sent first. */
      readonly proxy?: string
      /** The audio is encrypted, by keys in SDP, or there is no call. */
      readonly srtpEncryption?: 'sdes' | 'dtls'
      readonly auth?: Credentials
    }
  | {
      readonly type: 'teams'
      /** As the tenant has it: with a plus, as a rule. */
      readonly number: string
      /** The FQDN of the tenant; left out: the only one of the account. */
      readonly tenant?: string
      /** The voice mail of the number. */
      readonly isVoiceMail?: boolean
      /** What Microsoft itself wants called, in place of the number: it is sent back as it came. */
      readonly uri?: string
    }

export type TargetOf<T extends Target['type']> = Extract<Target, { readonly type: T }>
