import { expect, it } from 'vitest'
import type { Agreement } from '../sdp/agreement.ts'
import { reportsTo } from './reports-to.ts'

const remote = { address: '192.0.2.9', port: 5004 }
const remoteRtcp = { address: '192.0.2.9', port: 5005 }
const moved = { address: '203.0.113.4', port: 61_000 }
const heard = { address: '203.0.113.4', port: 61_007 }
const agreement: Agreement = {
  encoding: 'PCMU',
  remote,
  remoteRtcp,
  peer: undefined,
  hasRtcpMux: false,
  protection: { form: 'plain' },
  send: { audio: 0, event: undefined, packetMs: 20 },
  receive: { codecs: [], events: [], noises: [] },
  maySend: true,
  mayReceive: true,
}
const nothing = { heard: undefined, latched: undefined, destination: remote }

it.each([
  ['to where the SDP says at first', {}, nothing, remoteRtcp],
  [
    'there as well when media comes from another port of that address',
    {},
    { ...nothing, latched: remote },
    remoteRtcp,
  ],
  ['beside the media that NAT has moved', {}, { ...nothing, latched: moved }, { ...moved, port: 61_001 }],
  [
    'nowhere when there is no port beside it',
    {},
    { ...nothing, latched: { ...moved, port: 65_535 } },
    undefined,
  ],
  ['to where the reports of the far end come from', {}, { ...nothing, latched: moved, heard }, heard],
  [
    'with the media where both share a port',
    { hasRtcpMux: true },
    { heard, latched: moved, destination: moved },
    moved,
  ],
  [
    'nowhere while the far end holds without an address',
    { remote: undefined },
    { ...nothing, heard },
    undefined,
  ],
  ['nowhere while two far ends send to each other', { isPast: true }, { ...nothing, heard }, undefined],
] as const)('reports go %s', (_, of, known, to) => {
  expect(reportsTo({ ...agreement, ...of }, known)).toEqual(to)
})
