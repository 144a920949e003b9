// Which dialog a message belongs to: RFC 3261 §12, the dialog ID.
import { headerOf } from '../message/message.ts'
import type { SipMessage, SipRequest } from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import type { Remote, Replaced } from '../sip.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import type { DialogGuard } from './dialog-guard.ts'

/** What may be found under a dialog ID: an established dialog, or an INVITE that waits for its answer. */
export interface DialogEntry {
  /** Undefined where the far end is no user. */
  readonly guard?: DialogGuard | undefined
  receive(transaction: ServerTransaction): void
  receiveAck(ack: SipRequest): void
  /** A connection has closed, which may be that of its peer. */
  connectionLost?(remote: Remote): void
  /** Lets go of it without a word to the peer. */
  stop(): void
  readonly standing: Standing
}

/** How a dialog stands for an INVITE that wants its place: what it replaces, one that this side was called by, or none. */
export type Standing = Replaced | { readonly kind: 'called' } | { readonly kind: 'over' }

export interface DialogId {
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
}

export class DialogTable {
  readonly #entries = new Map<string, DialogEntry>()

  /** How many calls there are, the unanswered ones included. */
  get size(): number {
    return this.#entries.size
  }

  /** Replaces an early entry by the dialog that came of it. */
  set(id: DialogId, entry: DialogEntry): void {
    this.#entries.set(keyOf(id), entry)
  }

  /** Only if it is still this entry's place. */
  delete(id: DialogId, entry: DialogEntry): void {
    const key = keyOf(id)
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
  }

  get(id: DialogId): DialogEntry | undefined {
    return this.#entries.get(keyOf(id))
  }

  connectionLost(remote: Remote): void {
    for (const entry of [...this.#entries.values()]) entry.connectionLost?.(remote)
  }

  stopAll(): void {
    for (const entry of [...this.#entries.values()]) entry.stop()
  }
}

// A tag is a token and has no semicolon, so two IDs never give one key.
function keyOf({ callId, localTag, remoteTag }: DialogId): string {
  return `${localTag};${remoteTag};${callId}`
}

/** The dialog ID of a request from the peer, or undefined when it is outside any dialog. */
export function dialogIdOf(request: SipMessage): DialogId | undefined {
  const localTag = tagOf(headerOf(request, 'to'))
  if (localTag === undefined) return undefined
  const remoteTag = tagOf(headerOf(request, 'from')) ?? ''
  return { callId: headerOf(request, 'call-id') ?? '', localTag, remoteTag }
}
