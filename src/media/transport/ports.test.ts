import { createSocket } from 'node:dgram'
import { describe, expect, it } from 'vitest'
import { PortPool, portPairs, SocketPair, splitPorts } from './ports.ts'

describe('a range of ports', () => {
  it.each([
    [{ first: 40_000, last: 40_999 }, 500],
    [{ first: 40_001, last: 40_004 }, 1],
    [{ first: 40_000, last: 40_001 }, 1],
    [{ first: 40_001, last: 40_002 }, 0],
  ])('%o has %i pairs', (range, pairs) => {
    expect(portPairs(range)).toBe(pairs)
    expect(new PortPool(range).free).toBe(pairs)
  })

  it.each([
    [{ first: 40_000, last: 40_999 }, 3],
    [{ first: 40_001, last: 40_100 }, 7],
    [{ first: 40_000, last: 40_003 }, 8],
  ])('%o is split into parts that share no port and leave none out', (range, workers) => {
    const parts = splitPorts(range, workers)
    expect(parts.length).toBe(Math.min(workers, portPairs(range)))
    const ports = parts.flatMap((part) => {
      const pool = new PortPool(part)
      return Array.from({ length: pool.free }, () => pool.take() ?? 0)
    })
    expect(new Set(ports).size).toBe(portPairs(range))
    expect(ports.every((port) => port % 2 === 0 && port >= range.first && port < range.last)).toBe(true)
  })

  it('gives out the port that was free longest', () => {
    const pool = new PortPool({ first: 40_000, last: 40_005 })
    const first = pool.take() ?? 0
    pool.giveBack(first)
    expect([pool.take(), pool.take(), pool.take(), pool.take()]).toEqual([40_002, 40_004, 40_000, undefined])
  })
})

describe.each([['IPv4'], ['IPv6']])('the sockets of a session over %s', (version) => {
  it('take no datagram from port 0, since none can be sent back', async () => {
    const [rtp, rtcp] = [createSocket('udp4'), createSocket('udp4')]
    const pair = new SocketPair(40_000, rtp, rtcp, version === 'IPv6')
    const heard: number[] = []
    const take = (_datagram: Buffer, { port }: { readonly port: number }) => void heard.push(port)
    pair.listen(take, take)
    // Only a raw socket sends from port 0, which not every machine lets a test open.
    for (const socket of [rtp, rtcp])
      for (const port of [0, 5004]) socket.emit('message', Buffer.of(0x80), { address: '127.0.0.1', port })
    expect(heard).toEqual([5004, 5004])
    await pair.close()
  })
})
