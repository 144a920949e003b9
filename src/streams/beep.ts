// The tone that announces that a server listens.
import { telephoneRate } from '../lib/audio/resampler.ts'

// Half a second of 1 kHz at a tenth of full scale, as recorders use.
const beepMs = 500
const beepHz = 1000
const beepLevel = 3000

export function beep(): Uint8Array {
  const samples = (beepMs * telephoneRate) / 1000
  const bytes = Buffer.alloc(samples * 2)
  for (let at = 0; at < samples; at += 1) {
    const edge = Math.min(1, at / 40, (samples - at) / 40)
    const value = beepLevel * edge * Math.sin((2 * Math.PI * beepHz * at) / telephoneRate)
    bytes.writeInt16LE(Math.round(value), at * 2)
  }
  return bytes
}
