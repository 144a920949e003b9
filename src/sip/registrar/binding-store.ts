// Where a registered phone is (RFC 3261 §10), and what keeps that: in memory, and beyond the process.
import type { RegisteredPhone } from '../../contracts/registered-phone.ts'
import type { Remote } from '../transport/transports.ts'

/** A binding of an address of record (RFC 3261 §10). `expiresAt` in epoch ms. */
export interface Binding extends RegisteredPhone {
  /** Tells it apart from the other bindings of its address of record. */
  readonly key: string
  /** `+sip.instance` and `reg-id` of RFC 5626, where the phone names them. */
  readonly instance: string | undefined
  /** As the phone ranks its Contact. */
  readonly q: string | undefined
  readonly remote: Remote
  readonly path: readonly string[]
  readonly callId: string
  readonly cseq: number
  readonly userAgent: string | undefined
}

export interface BindingStore {
  /** The live bindings of an address of record, the one that registered last first. */
  get(aor: string): Promise<readonly Binding[]>
  /** The same, and those that lead from here though another node has them: phones behind a proxy with Path (RFC 3327). */
  find(aor: string): Promise<readonly Binding[]>
  /** Takes the place of those of the same phone. Resolves when it survives the process. */
  put(binding: Binding): Promise<void>
  /** The phone of the binding has shown itself; nothing else has changed. */
  touch(binding: Binding): void
  /** One of its bindings, or all. */
  remove(aor: string, key?: string): Promise<void>
  /** All bindings of a realm. */
  forget(realm: string): Promise<void>
  /** Live bindings of a realm, sorted by address of record. */
  list(realm: string): Promise<Binding[]>
  /** The live bindings that a flow carries. */
  boundTo(remote: Remote): readonly Binding[]
  /** The same, and those that other nodes have. */
  findBoundTo(remote: Remote): Promise<readonly Binding[]>
}

/** A binding as it was kept, perhaps by a version of this stack with more transports. */
export interface KeptBinding extends Omit<Binding, 'remote'> {
  readonly remote: { readonly transport: string; readonly address: string; readonly port: number }
}

/** Keeps the bindings of this node beyond its process. A failure is logged, never thrown: the phones are reached. */
export interface BindingArchive {
  /** The live ones whose users may still register, the one that registered last first. */
  load(): Promise<readonly KeptBinding[]>
  /** Those with a Path that other nodes have, as `load` has those of this one. Left out where there is one node. */
  elsewhere?(aor: string): Promise<readonly KeptBinding[]>
  /** Those without a Path that other nodes have at a place. Left out where there is one node. */
  elsewhereAt?(place: Remote): Promise<readonly KeptBinding[]>
  /** `gone` are the keys it took the place of. Resolves when it is kept; one that is only a refresh is kept soon after. */
  save(
    binding: Binding,
    change: { readonly gone: readonly string[]; readonly isRefresh: boolean },
  ): Promise<void>
  /** One binding of this node, or all of the address of record, on whichever node they are. */
  remove(aor: string, key?: string): Promise<void>
  /** All of a realm, on whichever node they are. */
  forget(realm: string): Promise<void>
}
