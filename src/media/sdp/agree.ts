// The agreement of one exchange of offer and answer, made of the far end's media line and the choices among its
// formats.
import type { Endpoint } from '../rtp/source.ts'
import type { Agreement, SdesProtection, SendFormat } from './agreement.ts'
import { eventsOf, mayReceive, maySend, rtcpOf } from './far-end-section.ts'
import { eventFor, wishesOf, type CodecFormat } from './formats.ts'
import type { Direction, MediaSection } from './sdp.ts'

export interface Agreed {
  readonly section: MediaSection
  readonly remote: Endpoint | undefined
  readonly direction: Direction
  readonly hasRtcpMux: boolean
  readonly protection: SdesProtection | undefined
  readonly peer: string | undefined
  /** The codec in use from now on, with the far end's payload type. */
  readonly format: CodecFormat
  readonly packetMs: number
  readonly receive: Agreement['receive']
}

export function agree(agreed: Agreed): Agreement {
  const { section, remote, direction, hasRtcpMux, protection, peer, format, packetMs, receive } = agreed
  return {
    encoding: format.encoding,
    remote,
    remoteRtcp: hasRtcpMux ? remote : rtcpOf(section, remote),
    peer,
    hasRtcpMux,
    protection: protection ?? { form: 'plain' },
    send: { ...toSend(section, format), packetMs },
    receive,
    maySend: maySend(direction),
    mayReceive: mayReceive(direction),
  }
}

function toSend(section: MediaSection, { encoding, payloadType }: CodecFormat): Omit<SendFormat, 'packetMs'> {
  const { parameters } = section.formats.find((one) => one.payloadType === payloadType) ?? {}
  const event = eventFor(encoding, eventsOf(section, encoding))
  return { audio: payloadType, event, wishes: wishesOf(encoding, parameters) }
}
