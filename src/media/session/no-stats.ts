// The counts of a stream that has sent and received nothing yet.
import type { StreamStats } from '../media.ts'

export const nothingYet: StreamStats = {
  packetsSent: 0,
  packetsReceived: 0,
  packetsLost: 0,
  packetsIgnored: 0,
  packetsNotAgreed: 0,
  jitterMs: 0,
  codec: '',
}
