// The codec that an offer will be answered with, determined before anything is opened for it.
import type { Encoding } from '../codecs/codecs.ts'
import { spokenIn } from './far-end-section.ts'
import { parseSdp } from './sdp.ts'

/** Returns undefined if the offer will be refused. */
export function firstCodecOf(offer: string): Encoding | undefined {
  try {
    const audio = parseSdp(offer).sections.find(({ type, port }) => type === 'audio' && port > 0)
    return audio === undefined ? undefined : spokenIn(audio)[0]?.encoding
  } catch {
    // The refusal of the offer states the reason.
    return undefined
  }
}
