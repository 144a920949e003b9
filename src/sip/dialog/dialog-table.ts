// The lookup of dialogs by dialog ID: RFC 3261 §12.
import { headerOf, type SipMessage, type SipRequest } from '../message/message.ts'
import { tagOf } from '../message/name-addr.ts'
import type { Remote } from '../transport/transports.ts'
import type { Replaced } from '../invites.ts'
import type { ServerTransaction } from '../transaction/transaction.ts'
import type { DialogGuard } from './dialog-guard.ts'

/** An entry under a dialog ID: an established dialog, or an INVITE that waits for its final response. */
export interface DialogEntry {
  /** Undefined if the far end is not a user. */
  readonly guard?: DialogGuard | undefined
  receive(transaction: ServerTransaction): void
  receiveAck(ack: SipRequest): void
  /** Reports whether the packets of the peer come by this connection. */
  isBy?(remote: Remote): boolean
  /** A connection has closed, which may be the peer's. */
  connectionLost?(remote: Remote): void
  /** Discards the entry without sending anything to the peer. */
  stop(): void
  readonly standing: Standing
}

/**
 * The state of a dialog for an INVITE with Replaces: the dialog it replaces, a call that came in to this side, or one
 * that is over.
 */
export type Standing = Replaced | { readonly kind: 'called' } | { readonly kind: 'over' }

export interface DialogId {
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
}

export class DialogTable {
  readonly #entries = new Map<string, DialogEntry>()

  /** The number of calls, including unanswered ones. */
  get size(): number {
    return this.#entries.size
  }

  /** Adds an entry. A dialog replaces the early entry it came from. */
  set(id: DialogId, entry: DialogEntry): void {
    this.#entries.set(keyOf(id), entry)
  }

  /** Deletes the entry, unless another has replaced it. */
  delete(id: DialogId, entry: DialogEntry): void {
    const key = keyOf(id)
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
  }

  get(id: DialogId): DialogEntry | undefined {
    return this.#entries.get(keyOf(id))
  }

  /** Reports whether a call uses this connection. */
  isInCall(remote: Remote): boolean {
    return this.#entries.values().some((entry) => entry.isBy?.(remote) === true)
  }

  connectionLost(remote: Remote): void {
    for (const entry of [...this.#entries.values()]) entry.connectionLost?.(remote)
  }

  stopAll(): void {
    for (const entry of [...this.#entries.values()]) entry.stop()
  }
}

// A tag is a token and has no semicolon, so two IDs never have the same key.
function keyOf({ callId, localTag, remoteTag }: DialogId): string {
  return `${localTag};${remoteTag};${callId}`
}

/** Returns the dialog ID of a request from the peer, or undefined if it is outside any dialog. */
export function dialogIdOf(request: SipMessage): DialogId | undefined {
  const localTag = tagOf(headerOf(request, 'to'))
  if (localTag === undefined) return undefined
  const remoteTag = tagOf(headerOf(request, 'from')) ?? ''
  return { callId: headerOf(request, 'call-id') ?? '', localTag, remoteTag }
}
