// Certificates by ACME (RFC 8555): the public interface, and the stored state.
import type { Part } from '../lib/lifecycle.ts'

export interface Acme extends Part {
  /**
   * Returns the content for the authority below /.well-known/acme-challenge/ (RFC 8555 §8.3), on whichever node it
   * requests it.
   */
  answerTo(token: string): Promise<string | undefined>
}

/** The state that is stored for all nodes that share a database. */
export interface AcmeState {
  /** PEM. */
  readonly accountKey?: string
  /** Key and certificates in one PEM. */
  readonly certificate?: string
  readonly challenge?: Challenge
  /**
   * Failures in a row, and the time of the next try in epoch ms: a restart must not immediately repeat a failed order.
   */
  readonly failures?: number
  readonly retryAt?: number
}

export interface Challenge {
  readonly token: string
  readonly keyAuthorization: string
}

export interface AcmeStore {
  load(): Promise<AcmeState>
  /** Replaces the members that are given. */
  save(changes: AcmeState): Promise<void>
  /** Reserves ordering for this node until `untilMs` or `release`; false if another has it. */
  hold(untilMs: number): Promise<boolean>
  release(): Promise<void>
}
