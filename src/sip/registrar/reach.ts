// The destination of an INVITE for a registered phone: the flow it registered over, or its Contact once that flow is
// gone (RFC 5626 §5.3). A phone that neither leads to is unregistered.
import { AppError } from '../../lib/errors.ts'
import type { Logger } from '../../lib/log.ts'
import type { ResolveUri, Resolved } from '../transport/resolve.ts'
import type { Binding } from './binding-store.ts'
import type { TransportLayer } from '../transport/transport.ts'
import { contactOf } from './binding.ts'
import { flowKeyOf, type Bindings } from './bindings.ts'
import { isReliable, type Remote } from '../transport/transports.ts'

export interface ReachOptions {
  readonly bindings: Pick<Bindings, 'boundTo' | 'reachedAt' | 'get' | 'remove'>
  readonly transport: Pick<TransportLayer, 'isOpen' | 'open'>
  readonly resolve: ResolveUri
  readonly log: Logger
}

export interface Reach {
  /**
   * Rejects with AppError `sip_unreachable` when there is no way to the phone, which is then unregistered. `mayReach`
   * is called with each place that the Contact names, since each is tried when the one before it is silent.
   */
  find(binding: Binding, mayReach: (place: Remote) => boolean): Promise<Resolved>
  /** Returns the new connection of a phone that lost one and has registered over another since. */
  again(binding: Binding): Promise<Remote | undefined>
  /** Handles a closed connection: phones that used it and have no other way are unregistered. */
  closed(remote: Remote): void
}

export function createReach({ bindings, transport, resolve, log }: ReachOptions): Reach {
  /** Does nothing if the phone has registered again meanwhile. */
  const remove = async (binding: Binding, reason: string): Promise<void> => {
    const { aor, key, contact } = binding
    const isThere = (await bindings.get(aor)).includes(binding)
    if (!isThere) return
    log.info({ aor, contact, reason }, 'phone is not registered any more')
    await bindings.remove(aor, key)
  }

  const byContact = async (
    binding: Binding,
    uri: string,
    mayReach: (place: Remote) => boolean,
  ): Promise<Resolved> => {
    const remote = await resolve(uri)
    for (const place of [remote, ...(remote.alternatives ?? [])]) {
      if (!mayReach(place))
        throw new AppError('sip_unreachable', 'the Contact leads to an address that may not be called')
      // Phones behind one gateway share the place that they registered from.
      const isOwn = flowKeyOf(place) === flowKeyOf(binding.remote)
      if (!isOwn && bindings.reachedAt(place).some(({ aor }) => aor !== binding.aor))
        throw new AppError('sip_unreachable', 'the Contact leads to the connection of another phone')
    }
    if (isReliable(remote)) await transport.open(remote)
    return remote
  }

  return {
    async find(binding, mayReach) {
      const { remote } = binding
      if (!isReliable(remote) || transport.isOpen(remote)) return remote
      const uri = contactOf(binding)
      try {
        if (uri === undefined) throw new AppError('sip_unreachable', 'the Contact names no address')
        return await byContact(binding, uri, mayReach)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        const reason = `its connection is gone, and ${error.message}`
        await remove(binding, reason)
        throw new AppError('sip_unreachable', reason, { cause: error })
      }
    },
    async again({ aor, key }) {
      const [there] = (await bindings.get(aor)).filter((binding) => binding.key === key)
      return there !== undefined && transport.isOpen(there.remote) ? there.remote : undefined
    },
    closed(remote) {
      for (const binding of bindings.boundTo(remote)) {
        if (contactOf(binding) !== undefined) continue
        void remove(binding, 'its connection is gone, and the Contact names no address')
      }
    },
  }
}
