// The profiles of a media line and the protection of its packets (RFC 3551, RFC 4585, RFC 3711 §7, RFC 5124,
// RFC 5764 §8, RFC 7850 §5): all that RFC 8829 §5.1.2 requires to be accepted.
import type { FarSide } from '../browsers/messages.ts'

/** `sdes`: by keys in the SDP itself (RFC 4568); `dtls`: by keys of a handshake on the media path. */
export type Protected = 'none' | 'sdes' | 'dtls'

const profiles = {
  'RTP/AVP': 'none',
  'RTP/AVPF': 'none',
  'RTP/SAVP': 'sdes',
  'RTP/SAVPF': 'sdes',
  'UDP/TLS/RTP/SAVP': 'dtls',
  'UDP/TLS/RTP/SAVPF': 'dtls',
  'TCP/DTLS/RTP/SAVP': 'dtls',
  'TCP/DTLS/RTP/SAVPF': 'dtls',
} as const satisfies Readonly<Record<string, Protected>>

export type Profile = keyof typeof profiles

/** The keys and the path of a line, which decide with its profile. */
export interface Means {
  /** Whether one of its a=crypto lines can be used. */
  readonly hasKey: boolean
  readonly hasRtcpMux: boolean
  /** Undefined if the description of the path is incomplete. */
  readonly path: FarSide | undefined
}

/** Returns undefined for profiles that are not RTP, or not known. */
export function profileNamed(protocol: string): Profile | undefined {
  return Object.hasOwn(profiles, protocol) ? (protocol as Profile) : undefined
}

/** Returns the protection that the name alone says. */
export function namedProtection(profile: Profile): Protected {
  return profiles[profile]
}

export function isOverTcp(profile: Profile): boolean {
  return profile.startsWith('TCP/')
}

/**
 * Returns the protection of a line. The name of a profile without DTLS decides little: peers offer DTLS-SRTP under
 * each of them, with a fingerprint (RFC 8829 §5.1.2, RFC 8643 §3). A key in the SDP comes first, unless the line has
 * ICE, which is served with DTLS only.
 */
export function protectionOf(profile: Profile, { hasKey, hasRtcpMux, path }: Means): Protected {
  const named = profiles[profile]
  if (named === 'dtls' || path === undefined) return named
  if (hasKey && (path.ice === undefined || !hasRtcpMux)) return named
  // Encryption under the name of plain RTP is a possibility that the far end can do without: RFC 8643 §1.
  return named === 'none' && !hasRtcpMux ? 'none' : 'dtls'
}
