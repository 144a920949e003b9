// ICE and DTLS in an SDP (RFC 8839, RFC 8842, RFC 8843): what a browser says of the path of its packets, and what we say.
import { isIP } from 'node:net'
import type { MediaDescription, SessionDescription } from 'sdp-transform'
import type { Endpoint } from '../rtp/source.ts'
import type { FarIce, FarSide, OwnSide } from '../browsers/messages.ts'

/**
 * `alone`: the line has our one candidate, and its port. `beside`: a far end without ICE finds the port of the session in the
 * line, which is a candidate as well (RFC 8839 §4.2.5), and never answers a check. `none`: that port alone.
 */
export type OwnIce = 'alone' | 'beside' | 'none'

/** Ours. */
export interface OwnPath extends OwnSide {
  readonly ice: OwnIce
  /** Of ICE. */
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
  const algorithm = String(said.fingerprint?.type ?? '').toLowerCase()
  const value = String(said.fingerprint?.hash ?? '').toUpperCase()
  const setup = setups.find((one) => one === said.setup)
  const ice = iceOf(said, media)
  const isWhole = algorithms.includes(algorithm) && fingerprintForm.test(value)
  if (!isWhole || setup === undefined || ice === 'malformed') return undefined
  return { fingerprint: { algorithm, value }, setup, ice }
}

function iceOf({ iceUfrag, icePwd }: Described, media: MediaDescription): FarIce | 'malformed' | undefined {
  if (iceUfrag === undefined && icePwd === undefined) return undefined
  const [ufrag, pwd] = [String(iceUfrag ?? ''), String(icePwd ?? '')]
  if (!ufragForm.test(ufrag) || !pwdForm.test(pwd)) return 'malformed'
  return { ufrag, pwd, candidates: candidatesOf(media) }
}

/** Over UDP, best first. A name is never looked up: one of mDNS means something in the browser's own network only. */
function candidatesOf({ candidates = [] }: MediaDescription): FarIce['candidates'] {
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
export function toPathLines(path: OwnPath, { address, port }: Endpoint): Partial<MediaDescription> {
  const handshake = {
    fingerprint: { type: path.fingerprint.algorithm, hash: path.fingerprint.value },
    setup: path.setup,
  }
  if (path.ice === 'none') return handshake
  const ports = path.ice === 'alone' ? [path.port] : [path.port, port]
  return {
    ...handshake,
    iceUfrag: path.ufrag,
    icePwd: path.pwd,
    candidates: ports.map((ours, index) => ({
      foundation: String(index + 1),
      component: 1,
      transport: 'UDP',
      // Of host candidates: RFC 8445 §5.1.2.1.
      priority: 2_130_706_431 - index * 256,
      ip: address,
      port: ours,
      type: 'host',
    })),
    endOfCandidates: 'end-of-candidates',
    // A browser gives a track to its page as part of a stream: RFC 8830.
    msid: [{ id: 'switchhook', appdata: 'audio' }],
  }
}
