// ICE and DTLS in an SDP (RFC 8839, RFC 8842, RFC 8843): what a browser says of the path of its packets, and what we say.
import { isIP } from 'node:net'
import type { MediaDescription, SessionDescription } from 'sdp-transform'
import type { FarSide, OwnSide } from '../browsers/messages.ts'

/** Ours: one candidate, at the address and port of the line. */
export interface OwnPath extends OwnSide {
  readonly port: number
  /** In the handshake; `actpass`: the far end's to choose. */
  readonly setup: FarSide['setup']
}

const maxCandidates = 16
// RFC 8839 §5.4.
const ufragForm = /^[A-Za-z0-9+/]{4,256}$/
const pwdForm = /^[A-Za-z0-9+/]{22,256}$/
const fingerprintForm = /^[0-9A-F]{2}(?::[0-9A-F]{2}){31,63}$/
// Of hashes that can be forged, none.
const algorithms = ['sha-256', 'sha-384', 'sha-512']
const setups = ['active', 'passive', 'actpass'] as const

type Described = Pick<MediaDescription, 'iceUfrag' | 'icePwd' | 'fingerprint' | 'setup'>

/** What the line or the session says; undefined where something of it is missing or has not its form. */
export function pathOf(media: MediaDescription, session: SessionDescription): FarSide | undefined {
  const said: Described = { ...session, ...media }
  const ufrag = String(said.iceUfrag ?? '')
  const pwd = String(said.icePwd ?? '')
  const algorithm = String(said.fingerprint?.type ?? '').toLowerCase()
  const value = String(said.fingerprint?.hash ?? '').toUpperCase()
  const setup = setups.find((one) => one === said.setup)
  const isWhole =
    ufragForm.test(ufrag) &&
    pwdForm.test(pwd) &&
    algorithms.includes(algorithm) &&
    fingerprintForm.test(value) &&
    setup !== undefined
  if (!isWhole) return undefined
  return { ufrag, pwd, fingerprint: { algorithm, value }, setup, candidates: candidatesOf(media) }
}

/** Over UDP, best first. A name is never looked up: one of mDNS means something in the browser's own network only. */
function candidatesOf({ candidates = [] }: MediaDescription): FarSide['candidates'] {
  return candidates
    .filter(
      ({ component, transport, ip, port }) =>
        component === 1 &&
        String(transport).toUpperCase() === 'UDP' &&
        isIP(String(ip)) !== 0 &&
        port > 0 &&
        port <= 65_535,
    )
    .toSorted((a, b) => Number(b.priority) - Number(a.priority))
    .slice(0, maxCandidates)
    .map(({ ip, port }) => ({ address: ip, port }))
}

/** The lines that say it. All of our candidates are there from the beginning: RFC 8838 is not needed. */
export function toPathLines(path: OwnPath, address: string): Partial<MediaDescription> {
  return {
    iceUfrag: path.ufrag,
    icePwd: path.pwd,
    fingerprint: { type: path.fingerprint.algorithm, hash: path.fingerprint.value },
    setup: path.setup,
    candidates: [
      {
        foundation: '1',
        component: 1,
        transport: 'UDP',
        // Of a host candidate, the only one of its kind: RFC 8445 §5.1.2.1.
        priority: 2_130_706_431,
        ip: address,
        port: path.port,
        type: 'host',
      },
    ],
    endOfCandidates: 'end-of-candidates',
    // A browser gives a track to its page as part of a stream: RFC 8830.
    msid: [{ id: 'switchhook', appdata: 'audio' }],
  }
}
