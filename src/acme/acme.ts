// Certificates by ACME (RFC 8555): what the rest of the program sees of it, and what it keeps.
import type { Part } from '../lib/lifecycle.ts'

export interface Acme extends Part {
  /** What the authority is to find below /.well-known/acme-challenge/ (RFC 8555 §8.3), on whichever node it asks. */
  answerTo(token: string): Promise<string | undefined>
}

/** Kept for all nodes that share a database. */
export interface AcmeState {
  /** PEM. */
  readonly accountKey?: string
  /** Key and certificates in one PEM. */
  readonly certificate?: string
  readonly challenge?: Challenge
  /** Failures in a row, and when the next try is due in epoch ms: a start must not try at once what has just failed. */
  readonly failures?: number
  readonly retryAt?: number
}

export interface Challenge {
  readonly token: string
  readonly keyAuthorization: string
}

export interface AcmeStore {
  load(): Promise<AcmeState>
  /** The members that are named take the place of those before. */
  save(changes: AcmeState): Promise<void>
  /** Whether this node alone orders certificates until `untilMs`, or until `release`. */
  hold(untilMs: number): Promise<boolean>
  release(): Promise<void>
}
