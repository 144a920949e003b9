// The interface by which the SIP stack, the call engine and the hooks read stored rows.
import type { Directory } from '../calls/ports.ts'
import type { SipDirectory } from '../sip/sip.ts'
import type { RealmHook } from './registration-hook.ts'

export interface StorageDirectory extends Directory, SipDirectory {
  /** The secret that signs the account's hooks. */
  readonly signingSecret: (account_sid: string) => Promise<string | undefined>
  readonly gatewayOwners: (address: string) => readonly string[] | undefined
  readonly registrationHook: (realm: string) => Promise<RealmHook | undefined>
}
