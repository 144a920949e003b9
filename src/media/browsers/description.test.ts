import { describe, expect, it } from 'vitest'
import { parseSdp } from '../sdp/sdp.ts'
import { toDescription } from './description.ts'
import type { FarIce, FarSide } from './messages.ts'

const ice: FarIce = {
  ufrag: 'abcd',
  pwd: 'p'.repeat(24),
  candidates: [
    { address: '192.0.2.1', port: 5000 },
    { address: '2001:db8::1', port: 5001 },
  ],
}
const far: FarSide = {
  fingerprint: { algorithm: 'sha-256', value: Array.from({ length: 32 }, () => 'AB').join(':') },
  setup: 'passive',
  ice,
}

describe('the far end as the library has it', () => {
  it('is what its SDP says, in an SDP of our own', () => {
    const { sections } = parseSdp(toDescription(far, ice))
    expect(sections).toHaveLength(1)
    expect(sections[0]).toMatchObject({
      type: 'audio',
      hasRtcpMux: true,
      direction: 'sendrecv',
      mid: '0',
      path: far,
    })
  })

  it('begins the handshake where it may be either', () => {
    expect(toDescription({ ...far, setup: 'actpass' }, ice)).toContain('a=setup:active\r\n')
    expect(toDescription({ ...far, setup: 'active' }, ice)).toContain('a=setup:active\r\n')
  })

  it('has eight places at most, the best first', () => {
    const candidates = Array.from({ length: 16 }, (_, at) => ({ address: '192.0.2.1', port: 5000 + at }))
    const lines = toDescription(far, { ...ice, candidates }).split('\r\n')
    const ports = lines
      .filter((line) => line.startsWith('a=candidate:'))
      .map((line) => Number(line.split(' ')[5]))
    expect(ports).toEqual([5000, 5001, 5002, 5003, 5004, 5005, 5006, 5007])
    const priorities = lines.flatMap((line) => /^a=candidate:\d+ 1 UDP (\d+) /.exec(line)?.[1] ?? [])
    expect(priorities).toEqual(priorities.toSorted((a, b) => Number(b) - Number(a)))
  })
})
