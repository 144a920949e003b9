// The check that a packet to the announced address and an RTP port reaches this machine.
import { randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { note, ok, type Check, type Finding } from './doctor.ts'
import { openSockets, PortPool } from '../media/transport/ports.ts'
import type { PortRange } from '../media/worker-setup.ts'
import { createLocalAddress } from '../network/local-address.ts'
import type { Clock } from '../lib/clock.ts'

export interface SoundCheckOptions {
  readonly bind: string
  readonly publicAddress: string | undefined
  readonly rtpPorts: PortRange
  readonly clock: Pick<Clock, 'monotonic'>
}

const waitMs = 1500

/** A lost packet is no fault by itself, so that nothing that this check finds is bad. */
export function createSoundCheck(options: SoundCheckOptions): Check {
  return { name: 'sound', look: async () => [await tryOwnPacket(options)] }
}

async function tryOwnPacket({ bind, publicAddress, rtpPorts, clock }: SoundCheckOptions): Promise<Finding> {
  const { general: address } = createLocalAddress({ bind, publicAddress, clock })
  const pair = await openSockets(new PortPool(rtpPorts), bind).catch(() => undefined)
  if (pair === undefined) return note('Not checked: no port of SWITCHHOOK_RTP_PORTS is free now')
  const sent = randomBytes(16)
  const sender = createSocket(isIPv6(address) ? 'udp6' : 'udp4')
  try {
    const from = await arrival(pair, sender, { sent, address })
    const place = `UDP port ${pair.port} of ${address}`
    if (from !== undefined) return ok(`A packet that was sent to ${place} arrived here, from ${from}`)
    return note(
      `A packet that was sent to ${place} did not arrive here`,
      `Either that address is wrong (SWITCHHOOK_PUBLIC_ADDRESS), or NAT or a firewall keeps the packet back. Many kinds of NAT do so only with packets from within: let a phone outside call, and look for no_media_received in the journal. docs/guides/no-sound.md helps.`,
    )
  } finally {
    sender.close()
    await pair.close()
  }
}

interface Packet {
  readonly sent: Buffer
  readonly address: string
}

/** Returns where the packet came from; undefined if it did not come in time. */
function arrival(
  pair: Pick<Awaited<ReturnType<typeof openSockets>>, 'listen' | 'port'>,
  sender: Socket,
  { sent, address }: Packet,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const timer = setTimeout(() => resolve(undefined), waitMs)
  pair.listen(
    (datagram, from) => {
      if (datagram.equals(sent)) resolve(from.address)
    },
    () => undefined,
  )
  // Without a route to the address, the packet does not arrive.
  sender.on('error', () => undefined)
  sender.send(sent, pair.port, address, () => undefined)
  return promise.finally(() => clearTimeout(timer))
}
