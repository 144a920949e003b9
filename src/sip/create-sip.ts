// `createSip`: the stack put together, from the sockets up.
import { createLocalAddress } from '../network/local-address.ts'
import type { LocalAddress } from '../network/local-address.ts'
import { createNames } from '../network/create-names.ts'
import { createUriResolver } from './resolve.ts'
import type { Sip, SipOptions } from './sip.ts'
import { createTransport } from './transport/create-transport.ts'
import { createUserAgent } from './user-agent.ts'

export function createSip(options: SipOptions): Sip {
  const { bind, port, publicAddress, clock, log } = options
  let local: LocalAddress | undefined
  const transport = createTransport({
    bind,
    port,
    clock,
    log,
    handlers: {
      message: (message, raw, remote) => agent.receive(message, raw, remote),
      admits: (remote) => agent.sources.admits(remote),
      isProven: (remote) => agent.sources.isProven(remote),
      closed: (remote) => agent.reach.closed(remote),
      isNeeded: (remote) => agent.bindings.isBound(remote),
    },
  })
  const { lookup = createNames({ clock }).lookup } = options
  const resolve = createUriResolver({ lookup, bind })
  const agent = createUserAgent({
    ...options,
    resolve,
    transport,
    addressFor(remote) {
      const general = local?.general ?? bind
      const host = remote === undefined ? general : (local?.towards(remote.address) ?? general)
      return { host, port: transport.listening.port }
    },
  })
  return {
    name: 'sip',
    async start() {
      local = createLocalAddress({ bind, publicAddress, clock })
      await agent.bindings.load()
      await transport.start()
    },
    async stop() {
      agent.stop()
      await transport.stop()
    },
    get listening() {
      return transport.listening
    },
    get host() {
      return local?.general ?? bind
    },
    drain: () => agent.drain(),
    authenticate: (request, remote) => agent.authenticate(request, remote),
    invite: (inviteOptions) => agent.invite(inviteOptions),
    resolve,
    bindings: agent.bindings,
    hasUserAt: agent.hasUserAt,
    reach: (binding, mayReach) => agent.reach.find(binding, mayReach),
    get counters() {
      return agent.counters
    },
  }
}
