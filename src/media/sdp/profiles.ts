// The profiles of a media line and the protection of its packets (RFC 3551, RFC 4585, RFC 3711 §7, RFC 5124,
// RFC 5764 §8).
import type { FarSide } from '../browsers/messages.ts'
import type { CryptoLines } from './crypto-lines.ts'

/** `sdes`: by keys in the SDP itself (RFC 4568); `dtls`: by keys of a handshake on the media path. */
export type ProfileProtection = 'none' | 'sdes' | 'dtls'

const profiles = {
  'RTP/AVP': 'none',
  'RTP/AVPF': 'none',
  'RTP/SAVP': 'sdes',
  'RTP/SAVPF': 'sdes',
  'UDP/TLS/RTP/SAVP': 'dtls',
  'UDP/TLS/RTP/SAVPF': 'dtls',
} as const satisfies Readonly<Record<string, ProfileProtection>>

export type Profile = keyof typeof profiles

/** Returns undefined for profiles that are not RTP, or not known. */
export function profileNamed(protocol: string): Profile | undefined {
  return Object.hasOwn(profiles, protocol) ? (protocol as Profile) : undefined
}

/** Returns the protection that the name of the profile stands for. */
export function protectionOf(profile: Profile): ProfileProtection {
  return profiles[profile]
}

export interface KeysOfLine {
  readonly crypto: CryptoLines
  /** The path of a handshake, if its description is complete. */
  readonly path: FarSide | undefined
  readonly hasRtcpMux: boolean
}

/**
 * Returns the protection of the packets of a line. The keys of the line decide, since peers offer DTLS-SRTP under the
 * names of SDES and the other way round (RFC 8829 §5.1.2), and either of them under the plain names (RFC 8643). The
 * name of the profile decides what a line without usable keys is refused for.
 */
export function protectionWith(
  profile: Profile,
  { crypto, path, hasRtcpMux }: KeysOfLine,
): ProfileProtection {
  const named = protectionOf(profile)
  const hasKeys = crypto.usable.length > 0
  if (named === 'none') {
    // The packets of a plain line may stay plain, so that nothing is refused that can be served.
    const isSecured = path !== undefined && hasRtcpMux && (path.ice !== undefined || !hasKeys)
    return isSecured ? 'dtls' : 'none'
  }
  // An endpoint with ICE receives packets only by its path.
  if (path?.ice !== undefined) return 'dtls'
  if (named === 'sdes') return hasKeys || path === undefined ? 'sdes' : 'dtls'
  return path === undefined && hasKeys ? 'sdes' : 'dtls'
}
