// Sends signed dynamic updates to one name server over UDP, repeats them when no response arrives, and accepts only
// signed responses.
import { randomInt } from 'node:crypto'
import dgram from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Clock, Timer } from '../lib/clock.ts'
import { AppError } from '../lib/errors.ts'
import type { UpdateClient } from './dns.ts'
import { encodeUpdate, parseReply } from './message.ts'
import { isAuthentic, sign, signatureError, type Signed, type TsigKey } from './tsig.ts'

export interface UpdateClientOptions {
  /** An IP address. */
  readonly server: { readonly address: string; readonly port: number }
  readonly zone: string
  readonly key: TsigKey
  readonly clock: Clock
  /** The wait of each try, in ms. */
  readonly tries?: readonly number[]
}

// An update is idempotent, so after a lost response the same bytes can be sent again.
const defaultTriesMs = [1000, 1500, 2500]

// RFC 2136 §2.2.
const rcodes: Readonly<Record<number, string>> = {
  1: 'could not read the update',
  2: 'failed',
  4: 'does not take updates',
  5: 'refused the update',
  9: 'did not accept the key, or does not have the zone',
  10: 'says that the name is not in the zone',
}
const conflicts: ReadonlySet<number> = new Set([3, 6, 7, 8])
const keyFaults = {
  key: 'does not know the key',
  signature: 'did not accept the signature: the secrets differ',
  time: 'has a clock that differs from ours by more than five minutes',
} as const

export function createUpdateClient(options: UpdateClientOptions): UpdateClient {
  const { zone, key, clock } = options
  return {
    async update(prerequisites, changes) {
      const id = randomInt(0x1_0000)
      const request = sign(encodeUpdate({ id, zone, prerequisites, changes }), key, clock.now())
      const rcode = await exchange(options, id, request)
      if (rcode === 0) return 'done'
      if (conflicts.has(rcode)) return 'conflict'
      throw failed(rcodes[rcode] ?? `answered with code ${rcode}`)
    },
  }
}

function failed(what: string, cause?: unknown): AppError {
  return new AppError('dns_update_failed', `the name server ${what}`, cause === undefined ? {} : { cause })
}

/** Returns the code of the response. */
function exchange(
  { server, key, clock, tries = defaultTriesMs }: UpdateClientOptions,
  id: number,
  request: Signed,
): Promise<number> {
  const socket = dgram.createSocket(isIPv6(server.address) ? 'udp6' : 'udp4')
  let timer: Timer | undefined
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const send = (round: number): void => {
    const waitMs = tries[round]
    if (waitMs === undefined) return reject(failed('did not answer'))
    socket.send(request.bytes, (error) => {
      if (error !== null) reject(failed('cannot be reached', error))
    })
    timer = clock.after(waitMs, () => send(round + 1))
  }
  socket.on('error', (error) => reject(failed('cannot be reached', error)))
  socket.on('message', (bytes) => {
    const reply = read(bytes)
    if (reply?.isResponse !== true || reply.id !== id) return
    // A server responds without a signature if it did not accept ours (RFC 8945 §5.2); only this is accepted unsigned.
    const fault = signatureError(reply)
    if (fault !== undefined && reply.rcode !== 0) return reject(failed(keyFaults[fault]))
    // RFC 8945 §5.4: any other unsigned response is ignored, and the wait continues.
    if (isAuthentic(bytes, reply, request, key, clock.now())) resolve(reply.rcode)
  })
  // A callback of `connect` would also be called with its failure, and no 'error' would follow.
  socket.once('connect', () => send(0))
  // Connected: packets from elsewhere are dropped by the system, and a closed port is reported immediately.
  socket.connect(server.port, server.address)
  return promise.finally(() => {
    timer?.cancel()
    socket.close()
  })
}

function read(bytes: Buffer): ReturnType<typeof parseReply> | undefined {
  try {
    return parseReply(bytes)
  } catch {
    return undefined
  }
}
