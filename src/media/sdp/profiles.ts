// The profiles of a media line and the protection of its packets (RFC 3551, RFC 4585, RFC 3711 §7, RFC 5124,
// RFC 5764 §8).

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

export function protectionOf(profile: Profile): ProfileProtection {
  return profiles[profile]
}
