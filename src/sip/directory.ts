// What the stack asks its owner about users and realms.
import type { ErrorCode } from '../lib/errors.ts'
import type { DigestCredentials } from './digest.ts'
import type { SipRequest } from './message/message.ts'
import type { Binding } from './registrar/binding-store.ts'
import type { Reply } from './reply.ts'
import type { Remote } from './transport/transports.ts'

/** What the digest check needs to know of a user; `undefined` = unknown. Unknown and wrong passwords are refused alike. */
export interface SipUser {
  readonly username: string
  readonly realm: string
  /** Undefined where a judge decided, who alone knows it. */
  readonly password: string | undefined
  /** What the judge said of an accepted user. */
  readonly judged?: JudgedUser
  /** Set for a peer, which may place calls but not register: its owner's key. */
  readonly peer?: string
}

export interface JudgedUser {
  /** How long a registration lasts, in seconds; left out: as it asked. */
  readonly seconds?: number
  /** Where its calls go, in words of the stack's owner. */
  readonly destination?: string
}

/** Digest credentials that are verified outside of this stack. Everything in them is as the sender wrote it. */
export interface DigestQuestion {
  readonly request: SipRequest
  readonly remote: Remote
  readonly credentials: DigestCredentials
}

export type Judge = (question: DigestQuestion) => Promise<Judgement>

export type Judgement =
  | ({ readonly verdict: 'accepted' } & JudgedUser)
  | {
      readonly verdict: 'refused'
      readonly code: ErrorCode
      readonly reply: Reply
      /** False where nothing was said of the credentials. */
      readonly isGuess: boolean
    }

export type RealmState = 'active' | 'inactive' | 'unknown'

/** Questions the stack asks its owner. */
export interface SipDirectory {
  realmState(realm: string): Promise<RealmState>
  findUser(realm: string, username: string): Promise<SipUser | undefined>
  /** What decides about the users of a realm in place of their passwords; undefined where nothing does. */
  judgeOf?(realm: string): Promise<Judge | undefined>
  /** Whether a carrier's gateway is at this address, as far as is known at the moment: asked for each message of a stranger. */
  isGateway?(address: string, transport: Remote['transport']): boolean
  /** Asked for calls only. A peer and a user may have one name: the password tells them apart. */
  findPeer?(realm: string, username: string): Promise<SipUser | undefined>
  /**
   * Asked when a device registers that has no binding: runs `bind`, or answers why one more is not admitted. Left out,
   * every device is.
   */
  admitDevice?(
    device: Pick<SipUser, 'realm' | 'username'> & Pick<Binding, 'key'>,
    bind: () => Promise<void>,
  ): Promise<string | undefined>
}
