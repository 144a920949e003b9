// The far end's description for the library, written here from checked values, so that no stranger's SDP reaches its
// parser.
import type { FarIce, FarSide } from './messages.ts'

// Each candidate makes the library send packets to a place that the far end chose.
const maxCandidates = 8

export function toDescription(
  { fingerprint, setup }: Pick<FarSide, 'fingerprint' | 'setup'>,
  { ufrag, pwd, candidates, isLite = false }: FarIce & { readonly isLite?: boolean },
): string {
  return [
    'v=0',
    'o=- 1 1 IN IP4 0.0.0.0',
    's=-',
    't=0 0',
    ...(isLite ? ['a=ice-lite'] : []),
    'a=group:BUNDLE 0',
    `a=fingerprint:${fingerprint.algorithm} ${fingerprint.value}`,
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${pwd}`,
    // A far end that may have either role begins the handshake: it has our certificate by then, and we have its own.
    `a=setup:${setup === 'actpass' ? 'active' : setup}`,
    'm=audio 9 UDP/TLS/RTP/SAVPF 0',
    'c=IN IP4 0.0.0.0',
    'a=mid:0',
    'a=sendrecv',
    'a=rtcp-mux',
    'a=rtpmap:0 PCMU/8000',
    ...candidates
      .slice(0, maxCandidates)
      .map(
        ({ address, port }, index) =>
          `a=candidate:${index + 1} 1 UDP ${2_122_260_223 - index} ${address} ${port} typ host`,
      ),
    // The place of its stand-in is known a moment later.
    ...(isLite ? [] : ['a=end-of-candidates']),
    '',
  ].join('\r\n')
}
