import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  defaultTransport,
  isReliable,
  largeRequestTransport,
  toTransport,
  transportOf,
  transports,
} from './transports.ts'

const src = new URL('../../', import.meta.url)
const table = 'sip/transport/transports.ts'

describe('the table of transports', () => {
  it('names each transport as it is looked up', () => {
    for (const [key, { name, viaName, uriParameter }] of Object.entries(transports)) {
      expect([name, viaName.toLowerCase()]).toEqual([key, key])
      // RFC 7118 §5.2.1: one parameter for both WebSockets.
      expect(uriParameter ?? name).toBe(key === 'wss' ? 'ws' : key)
      expect(toTransport(viaName)).toBe(key)
    }
  })

  it.each(['', 'sctp', 'toString', 'ud', 'tls/srtp'])('has no transport called "%s"', (name) => {
    expect(toTransport(name)).toBeUndefined()
  })

  it('gives UDP for a URI that names none, and another transport for a request that is too large for it', () => {
    expect(transports[defaultTransport].uriParameter).toBeUndefined()
    expect(isReliable({ transport: defaultTransport })).toBe(false)
    expect(isReliable({ transport: largeRequestTransport })).toBe(true)
  })

  it.each([
    ['sip', undefined, 'udp'],
    ['sip', 'TCP', 'tcp'],
    ['sip', 'sctp', undefined],
    ['sips', undefined, 'tls'],
    ['sips', 'tcp', 'tls'],
    ['sips', 'ws', 'wss'],
    ['sips', 'udp', undefined],
  ] as const)('makes of %s with transport=%s: %s', (scheme, parameter, transport) => {
    expect(transportOf(scheme, parameter)).toBe(transport)
  })

  it('is the only place of the source that compares the names of transports', () => {
    const comparison = /(?:[!=]==? *|\bcase )'(?:udp|tcp|tls|wss?)'|'(?:udp|tcp|tls|wss?)' *[!=]==?/i
    // Exempt: gateways are stored with protocols that the stack does not support, WS is a method of hooks, and ICE
    // candidates name UDP.
    const others = [
      table,
      'api/carriers/sip-gateways.ts',
      'calls/verb/hook-form.ts',
      'doctor/ports.ts',
      'media/sdp/path-lines.ts',
    ]
    const isElsewhere = (path: string): boolean => !others.includes(path)
    const sources = globSync('**/*.ts', { cwd: src }).filter((path) => !path.endsWith('.test.ts'))
    const found = sources
      .filter(isElsewhere)
      .filter((path) => comparison.test(readFileSync(new URL(path, src), 'utf8')))
    expect(sources.length).toBeGreaterThan(300)
    expect(found).toEqual([])
  })
})
