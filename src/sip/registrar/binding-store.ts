// The interfaces for bindings of phones (RFC 3261 §10): the store in memory, and the archive beyond the process.
import type { RegisteredPhone } from '../../contracts/registered-phone.ts'
import type { Remote } from '../transport/transports.ts'

/** A binding of an address of record (RFC 3261 §10). Times in epoch ms. */
export interface Binding extends RegisteredPhone {
  /** Identifies the binding among those of its address of record. */
  readonly key: string
  /** The `+sip.instance` and `reg-id` of RFC 5626, if the phone sends them. */
  readonly instance: string | undefined
  /** The q value that the phone gave its Contact. */
  readonly q: string | undefined
  /** The time of the REGISTER that made it, or made it again. */
  readonly registeredAt: number
  readonly remote: Remote
  readonly path: readonly string[]
  readonly callId: string
  readonly cseq: number
  readonly userAgent: string | undefined
}

export interface BindingStore {
  /** Returns the live bindings of an address of record, the latest registration first. */
  get(aor: string): Promise<readonly Binding[]>
  /**
   * Like `get`, with bindings of other nodes that can be reached from here: phones behind a proxy with Path (RFC 3327).
   */
  find(aor: string): Promise<readonly Binding[]>
  /** Adds a binding, which replaces those of the same phone. Resolves when it survives the process. */
  put(binding: Binding): Promise<void>
  /** Notes that the phone of the binding is still there; nothing else has changed. */
  touch(binding: Binding): void
  /** Removes one of its bindings, or all. */
  remove(aor: string, key?: string): Promise<void>
  /** Removes all bindings of a realm. */
  forget(realm: string): Promise<void>
  /** Returns the live bindings of a realm, sorted by address of record. */
  list(realm: string): Promise<Binding[]>
  /** Returns the live bindings that use a flow. */
  boundTo(remote: Remote): readonly Binding[]
  /**
   * Returns the live bindings of the phones at a place: those that signal from there, and those that a trusted proxy in
   * front of them has heard there, as its Path says.
   */
  reachedAt(place: Remote): readonly Binding[]
  /** Like `reachedAt`, with the bindings of other nodes. */
  findReachedAt(place: Remote): Promise<readonly Binding[]>
}

/** A stored binding, perhaps written by a version of this stack with more transports. */
export interface KeptBinding extends Omit<Binding, 'remote'> {
  readonly remote: { readonly transport: string; readonly address: string; readonly port: number }
}

/**
 * Keeps the bindings of this node beyond its process. A failure is logged, never thrown: the phones can still be
 * reached.
 */
export interface BindingArchive {
  /** Returns the live bindings whose users may still register, the latest registration first. */
  load(): Promise<readonly KeptBinding[]>
  /** Returns the bindings of other nodes with a Path, with the conditions of `load`. Left out if there is one node. */
  elsewhere?(aor: string): Promise<readonly KeptBinding[]>
  /** Returns the bindings of phones that other nodes have at a place, as `save` names it. Left out if there is one node. */
  elsewhereAt?(place: string): Promise<readonly KeptBinding[]>
  /**
   * Stores a binding; `gone` are the keys it replaced, and `place` is where the phone itself signals from, if known.
   * Resolves when it is stored; a mere refresh is stored soon after.
   */
  save(
    binding: Binding,
    change: {
      readonly gone: readonly string[]
      readonly isRefresh: boolean
      readonly place: string | undefined
    },
  ): Promise<void>
  /** Removes one binding of this node, or all of the address of record on all nodes. */
  remove(aor: string, key?: string): Promise<void>
  /** Removes all bindings of a realm, on all nodes. */
  forget(realm: string): Promise<void>
}
