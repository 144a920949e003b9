// `createSip`: the stack put together, from the sockets up.
import { createNames } from '../network/create-names.ts'
import { createLocalAddress } from '../network/local-address.ts'
import type { LocalAddress } from '../network/local-address.ts'
import { createUriResolver } from './resolve.ts'
import type { SipOptions } from './sip.ts'
import { createTransport } from './transport/create-transport.ts'
import { createUserAgent } from './user-agent.ts'
import type { UserAgent } from './user-agent.ts'

/** The stack's owner takes it as a `Sip`; tests also read its counters. */
export function createSip(options: SipOptions): UserAgent {
  const { bind, port, publicAddress, clock, log } = options
  const { lookup = createNames({ clock }).lookup } = options
  // The interfaces are looked at when the first address is asked for.
  let local: LocalAddress | undefined
  return createUserAgent({
    ...options,
    transport: createTransport({ bind, port, clock, log }),
    resolve: createUriResolver({ lookup, bind }),
    hostFor(remote) {
      local ??= createLocalAddress({ bind, publicAddress, clock })
      return remote === undefined ? local.general : local.towards(remote.address)
    },
  })
}
