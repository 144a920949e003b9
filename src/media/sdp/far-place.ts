// Two far ends that send their sound to each other, past the platform: the place of each, and whether the two can do
// so.
import ipaddr from 'ipaddr.js'
import type { Endpoint } from '../rtp/source.ts'
import type { Agreement } from './agreement.ts'
import type { CodecFormat, EventFormat } from './formats.ts'
import { unprotected } from './key-exchange.ts'
import type { LocalAudio } from './sdp.ts'

/** The place and formats in which a far end receives its stream: everything that another far end is sent about it. */
export interface FarPlace extends Endpoint {
  readonly rtcp: Endpoint
  /** The codecs supported here too, with the far end's payload types; the one in use comes first. */
  readonly codecs: readonly CodecFormat[]
  readonly event: EventFormat | undefined
  /** The longest packet that it accepts from us. */
  readonly packetMs: number
  readonly hasRtcpMux: boolean
}

/** Returns undefined for a far end that holds, or takes no stream, and for one whose packets are protected. */
export function placeOf(agreement: Agreement): FarPlace | undefined {
  const { remote, remoteRtcp, receive, send, encoding, hasRtcpMux } = agreement
  if (remote === undefined || remoteRtcp === undefined) return undefined
  // The other far end would need its keys.
  if (agreement.protection.form !== 'plain') return undefined
  if (!agreement.maySend || !agreement.mayReceive) return undefined
  // The far end's own payload type of a codec is the last one.
  const numbers = new Map(receive.codecs.map((codec) => [codec.encoding, codec.payloadType]))
  numbers.set(encoding, send.audio)
  const codecs = [...numbers].map(([name, payloadType]) => ({ encoding: name, payloadType }))
  return {
    ...remote,
    rtcp: remoteRtcp,
    codecs: codecs.toSorted((a, b) => Number(b.encoding === encoding) - Number(a.encoding === encoding)),
    event: send.event,
    packetMs: send.packetMs,
    hasRtcpMux,
  }
}

/** Returns the codecs of the first that the second has too, in the order and with the payload types of the first. */
export function commonCodecs(a: FarPlace, b: FarPlace): FarPlace['codecs'] {
  return a.codecs.filter(({ encoding }) => b.codecs.some((other) => other.encoding === encoding))
}

/** Returns why the two cannot send to each other, in words; undefined if they can. */
export function objectionToPair(a: FarPlace, b: FarPlace): string | undefined {
  if (commonCodecs(a, b).length === 0) return 'the two have no codec in common'
  // An address is valid only within its own kind of network: one behind NAT cannot be reached by a far end outside.
  if (kindOf(a.address) !== kindOf(b.address)) return 'the two are in networks of different kinds'
  return undefined
}

/** Returns the IP version and range, such as `ipv4 private`. */
function kindOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return `${parsed.kind()} ${parsed.range()}`
}

/** Returns our line with the place of another far end in it, adapted to `to`. */
export function audioAt(place: FarPlace, to: FarPlace): LocalAudio {
  const { address, port, rtcp, event, packetMs } = place
  const hasRtcpMux = place.hasRtcpMux && to.hasRtcpMux
  const isUsual = rtcp.address === address && rtcp.port === port + 1
  return {
    formats: commonCodecs(place, to),
    events: to.event === undefined || event === undefined ? [] : [event],
    ptime: packetMs,
    direction: 'sendrecv',
    hasRtcpMux,
    ...unprotected,
    ...(hasRtcpMux || isUsual ? {} : { rtcp }),
    ...(packetMs < 20 ? { maxptime: packetMs } : {}),
  }
}

/**
 * Returns the codec in use, by its payload type, if the offer changes nothing, as one that only refreshes the session
 * (RFC 4028 §7.4).
 */
export function unchangedCodec(
  { spoken, remote, direction }: Offered,
  agreement: Agreement | undefined,
): Offered['spoken'][number] | undefined {
  const former = agreement?.remote
  const isSame = remote !== undefined && remote.address === former?.address && remote.port === former.port
  if (!isSame || direction !== 'sendrecv') return undefined
  return spoken.find(({ encoding }) => encoding === agreement?.encoding)
}

interface Offered {
  readonly spoken: FarPlace['codecs']
  readonly remote: Endpoint | undefined
  readonly direction: LocalAudio['direction']
}
