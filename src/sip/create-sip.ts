// `createSip`: the assembly of the whole stack, from the sockets up.
import { createRecent } from '../lib/recent.ts'
import { createNames } from '../network/create-names.ts'
import { createLocalAddress, type LocalAddress } from '../network/local-address.ts'
import { restingLimits } from './limits.ts'
import { createUriResolver } from './transport/resolve.ts'
import type { SipOptions } from './sip.ts'
import { createTransport } from './transport/create-transport.ts'
import { transports, type Remote, type Transport } from './transport/transports.ts'
import { createUserAgent, type UserAgent } from './user-agent.ts'

/** Creates the stack. Its owner uses it as a `Sip`; tests also read its counters. */
export function createSip(options: SipOptions): UserAgent {
  const { bind, port, publicAddress, secure, webSockets, clock, log } = options
  const { lookup = createNames({ clock }).lookup } = options
  // The network interfaces are read when the first address is needed.
  let local: LocalAddress | undefined
  const transport = createTransport({ bind, port, secure, webSockets, clock, log })
  const serves = (name: Transport): boolean =>
    !transports[name].isSecure || transport.listening.ports?.[name] !== undefined
  const resting = createRecent({ clock, ...restingLimits })
  const placeKey = ({ transport: by, address, port: at }: Remote): string => `${by} ${address} ${at}`
  return createUserAgent({
    ...options,
    transport,
    resolve: createUriResolver({
      lookup,
      names: options.names,
      bind,
      serves,
      isResting: (place) => resting.has(placeKey(place)),
      random: options.random,
    }),
    rest: (place) => resting.note(placeKey(place)),
    hostFor(remote) {
      const isSecure = remote?.transport !== undefined && transports[remote.transport].isSecure
      if (isSecure && secure?.name !== undefined) return secure.name
      local ??= createLocalAddress({ bind, publicAddress, clock })
      return remote === undefined ? local.general : local.towards(remote.address)
    },
  })
}
