// The profiles of a media line (RFC 3551, RFC 4585, RFC 3711 §7, RFC 5124, RFC 5764 §8): how the packets of the line are protected.

/** `sdes`: by keys in the SDP itself (RFC 4568); `dtls`: by keys of a handshake on the path of the media. */
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

/** Undefined for those that are no RTP, or are not known. */
export function profileNamed(protocol: string): Profile | undefined {
  return Object.hasOwn(profiles, protocol) ? (protocol as Profile) : undefined
}

export function protectionOf(profile: Profile): ProfileProtection {
  return profiles[profile]
}
