// The formats of an audio line: codecs with their parameters, and telephone-event in the clock rate of each of them.
import { codecs, type Encoding } from '../codecs/codecs.ts'
import type { Wishes } from '../codecs/coders.ts'
import { usualWishes } from '../codecs/opus.ts'

/** A codec with its payload type on one line. */
export interface CodecFormat {
  readonly encoding: Encoding
  readonly payloadType: number
}

/** Events with their payload type on one line, and their clock rate: RFC 4733 §2.1. */
export interface EventFormat {
  readonly payloadType: number
  readonly clockRate: number
}

/** The clock rates of the supported codecs. */
export const eventClocks: readonly number[] = [8000, 48_000]

/** The events in our offers. The second is used only with a codec of its clock rate. */
const ourEvents: readonly EventFormat[] = [
  { payloadType: 101, clockRate: 8000 },
  { payloadType: 97, clockRate: 48_000 },
]

export function eventsBeside(formats: readonly Pick<CodecFormat, 'encoding'>[]): readonly EventFormat[] {
  const clocks = new Set(formats.map(({ encoding }) => codecOf(encoding)?.clockRate))
  return ourEvents.filter(({ clockRate }) => clockRate === 8000 || clocks.has(clockRate))
}

/**
 * Returns the events in the codec's clock rate, as required; otherwise those at 8000 Hz, the only ones that some
 * phones support.
 */
export function eventFor(encoding: Encoding, events: readonly EventFormat[]): EventFormat | undefined {
  const of = (clock: number | undefined): EventFormat | undefined =>
    events.find(({ clockRate }) => clockRate === clock)
  return of(codecOf(encoding)?.clockRate) ?? of(8000)
}

interface FormatLines {
  readonly rtp: { payload: number; codec: string; rate: number; encoding?: number }[]
  readonly fmtp: { payload: number; config: string }[]
}

// RFC 7587 §6.1 and §7: packets sent to us may carry the packet before, need no more bandwidth than we can hear, and
// continue in silence.
const opusParameters = 'useinbandfec=1;usedtx=0;maxplaybackrate=16000;sprop-maxcapturerate=16000'

/** Returns the attributes of our media line. */
export function linesOf(formats: readonly CodecFormat[], events: readonly EventFormat[]): FormatLines {
  const rtp: FormatLines['rtp'] = formats.map(({ encoding, payloadType }) => ({
    payload: payloadType,
    rate: codecOf(encoding)?.clockRate ?? 8000,
    // RFC 7587 §7: always declared with two channels.
    ...(encoding === 'OPUS' ? { codec: 'opus', encoding: 2 } : { codec: encoding }),
  }))
  const fmtp: FormatLines['fmtp'] = formats
    .filter(({ encoding }) => encoding === 'OPUS')
    .map(({ payloadType }) => ({ payload: payloadType, config: opusParameters }))
  for (const { payloadType, clockRate } of events) {
    rtp.push({ payload: payloadType, codec: 'telephone-event', rate: clockRate })
    fmtp.push({ payload: payloadType, config: '0-15' })
  }
  return { rtp, fmtp }
}

const highestBitrate = 510_000

/** Returns the far end's parameters for our stream from its fmtp line: RFC 7587 §6.1. */
export function wishesOf(encoding: Encoding, parameters: string | undefined): Wishes | undefined {
  if (encoding !== 'OPUS') return undefined
  const values = new Map(
    (parameters ?? '').split(';').map((pair) => {
      const [name = '', value = ''] = pair.split('=', 2)
      return [name.trim().toLowerCase(), Number(value)]
    }),
  )
  const maxBitrate = values.get('maxaveragebitrate') ?? usualWishes.maxBitrate
  return {
    fec: values.get('useinbandfec') === 1,
    maxBitrate: maxBitrate > 0 && maxBitrate <= highestBitrate ? maxBitrate : usualWishes.maxBitrate,
    isConstant: values.get('cbr') === 1,
  }
}

function codecOf(encoding: Encoding): (typeof codecs)[number] | undefined {
  return codecs.find((codec) => codec.encoding === encoding)
}
