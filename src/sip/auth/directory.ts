// The interface to the stack's owner for users and realms.
import type { ErrorCode } from '../../lib/errors.ts'
import type { DigestCredentials } from './digest.ts'
import type { SipRequest } from '../message/message.ts'
import type { Reply } from '../message/reply.ts'
import type { Remote } from '../transport/transports.ts'

/**
 * A user as the digest check needs it; unknown users are `undefined`. Unknown users and wrong passwords are refused
 * alike.
 */
export interface SipUser {
  readonly username: string
  readonly realm: string
  /** Undefined if a judge decided: only the judge has the password. */
  readonly password: string | undefined
  /** The judge's statements about an accepted user. */
  readonly judged?: JudgedUser
  /** Set for a peer, which may place calls but not register: its owner's key. */
  readonly peer?: string
}

export interface JudgedUser {
  /** The duration of a registration, in seconds; left out, the one that it requested. */
  readonly seconds?: number
  /** The destination of its calls, in words of the stack's owner. */
  readonly destination?: string
}

/** Digest credentials that are verified outside of this stack, all as the sender wrote them. */
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
      /** False if the credentials themselves were not judged. */
      readonly isGuess: boolean
    }

export type RealmState = 'active' | 'inactive' | 'unknown'

/** The lookups that the stack makes at its owner. */
export interface SipDirectory {
  realmState(realm: string): Promise<RealmState>
  findUser(realm: string, username: string): Promise<SipUser | undefined>
  /**
   * Returns the judge that decides about the users of a realm in place of their passwords; undefined if there is none.
   */
  judgeOf?(realm: string): Promise<Judge | undefined>
  /**
   * Returns the owners of the carriers whose gateways are known to be at this address at the moment, or undefined if
   * there are none. Gateways of the operator have no owner. Called for each message.
   */
  gatewayOwners?(address: string, transport: Remote['transport']): readonly string[] | undefined
  /** Called for calls only. A peer and a user may have the same name: the password tells them apart. */
  findPeer?(realm: string, username: string): Promise<SipUser | undefined>
  /**
   * Called when a device without a binding registers: runs `bind`, or returns why one more is not admitted. Left out,
   * all are.
   */
  admitDevice?(
    device: Pick<SipUser, 'realm' | 'username'> & { readonly key: string },
    bind: () => Promise<void>,
  ): Promise<string | undefined>
}

/** The verdict of digest authentication (RFC 3261 §22) on an out-of-dialog request. */
export type Authentication =
  | {
      readonly verdict: 'accepted'
      readonly user: SipUser
      /** Something unusual about the credentials that is worth keeping with the call. */
      readonly note?: string
    }
  | { readonly verdict: 'challenge'; readonly reply: Reply }
  | {
      readonly verdict: 'refused'
      readonly reply: Reply
      readonly code: ErrorCode
      /** False if strangers could cause records without limit. */
      readonly isWorthRecord: boolean
    }
