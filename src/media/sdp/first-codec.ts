// Which codec an offer will be answered with, before anything is opened for it.
import type { Encoding } from '../codecs/codecs.ts'
import { spokenIn } from './far-end-section.ts'
import { parseSdp } from './sdp.ts'

/** Undefined where it will not be answered. */
export function firstCodecOf(offer: string): Encoding | undefined {
  try {
    const audio = parseSdp(offer).sections.find(({ type, port }) => type === 'audio' && port > 0)
    return audio === undefined ? undefined : spokenIn(audio)[0]?.encoding
  } catch {
    // The refusal of the offer says why.
    return undefined
  }
}
