// ICE and DTLS in SDP (RFC 8839, RFC 8842, RFC 8843): the browser's description of its path, and ours.
import { isIP } from 'node:net'
import type { MediaDescription, SessionDescription } from 'sdp-transform'
import type { Endpoint } from '../rtp/source.ts'
import type { FarIce, FarSide, OwnSide } from '../browsers/messages.ts'

/**
 * The ICE of our media line. `alone`: it has our one candidate and that candidate's port. `beside`: it has the port
 * of the session for a far end without ICE; that port is also a candidate (RFC 8839 §4.2.5), but never responds to
 * checks. `none`: it has the port of the session only.
 */
export type OwnIce = 'alone' | 'beside' | 'none'

/** Our side of the path. */
export interface OwnPath extends OwnSide {
  readonly ice: OwnIce
  /** The UDP port of ICE. */
  readonly port: number
  /** Our role in the handshake; `actpass` leaves the choice to the far end. */
  readonly setup: FarSide['setup']
}

const maxCandidates = 16
// RFC 8839 §5.4.
const ufragForm = /^[A-Za-z0-9+/]{4,256}$/
const pwdForm = /^[A-Za-z0-9+/]{22,256}$/
const fingerprintForm = /^[0-9A-F]{2}(?::[0-9A-F]{2}){31,63}$/
// Without hashes that can be forged.
const algorithms = ['sha-256', 'sha-384', 'sha-512']
const setups = ['active', 'passive', 'actpass'] as const

type Described = Pick<MediaDescription, 'iceUfrag' | 'icePwd' | 'fingerprint' | 'setup'>

/**
 * Returns whether the description is one of libwebrtc, which is in Chromium, Safari and the kits for telephones. It
 * makes a new handshake with another certificate in the answer to an ICE restart.
 */
function isOfLibwebrtc({ origin, extmapAllowMixed }: SessionDescription): boolean {
  return origin?.username === '-' && origin.address === '127.0.0.1' && extmapAllowMixed !== undefined
}

/** Returns the path of the media line or the session; undefined if a part of it is missing or malformed. */
export function pathOf(media: MediaDescription, session: SessionDescription): FarSide | undefined {
  const said: Described = { ...session, ...media }
  const algorithm = String(said.fingerprint?.type ?? '').toLowerCase()
  const value = String(said.fingerprint?.hash ?? '').toUpperCase()
  const setup = setups.find((one) => one === said.setup)
  const ice = iceOf(said, media)
  const isWhole = algorithms.includes(algorithm) && fingerprintForm.test(value)
  if (!isWhole || setup === undefined || ice === 'malformed') return undefined
  const renews = isOfLibwebrtc(session) ? { renewsHandshake: true } : {}
  return { fingerprint: { algorithm, value }, setup, ice, ...renews }
}

function iceOf({ iceUfrag, icePwd }: Described, media: MediaDescription): FarIce | 'malformed' | undefined {
  if (iceUfrag === undefined && icePwd === undefined) return undefined
  const [ufrag, pwd] = [String(iceUfrag ?? ''), String(icePwd ?? '')]
  if (!ufragForm.test(ufrag) || !pwdForm.test(pwd)) return 'malformed'
  return { ufrag, pwd, candidates: candidatesOf(media) }
}

/**
 * Returns candidates over UDP, best first. Names are never looked up: an mDNS name is valid only in the browser's own
 * network.
 */
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

/** Returns the lines of our path. They have all our candidates from the start, so RFC 8838 is not needed. */
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
      // The priority of host candidates: RFC 8445 §5.1.2.1.
      priority: 2_130_706_431 - index * 256,
      ip: address,
      port: ours,
      type: 'host',
    })),
    endOfCandidates: 'end-of-candidates',
    // A browser passes a track to its page as part of a stream: RFC 8830.
    msid: [{ id: 'switchhook', appdata: 'audio' }],
  }
}
