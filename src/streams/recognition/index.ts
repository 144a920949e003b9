// All vendors that hear a call while it goes on, by the names that credentials have.
import { assemblyai } from './assemblyai.ts'
import { aws } from './aws.ts'
import { custom } from './custom.ts'
import { deepgram } from './deepgram.ts'
import { deepgramFlux } from './deepgram-flux.ts'
import type { VendorOfEars } from './dialect.ts'
import { elevenlabs } from './elevenlabs.ts'
import { gladia } from './gladia.ts'
import { google } from './google.ts'
import { microsoft } from './microsoft.ts'
import { openai, whisper } from './openai.ts'
import { soniox } from './soniox.ts'
import { speechmatics } from './speechmatics.ts'
import { vendorNameOf } from './vendor-names.ts'
import { vosk } from './vosk.ts'

export const allVendors: readonly VendorOfEars[] = [
  assemblyai,
  aws,
  custom,
  deepgram,
  deepgramFlux,
  elevenlabs,
  gladia,
  google,
  microsoft,
  openai,
  soniox,
  speechmatics,
  vosk,
  whisper,
]

const byName = new Map(allVendors.map((vendor) => [vendor.name, vendor]))

/** Finds a vendor by any of its names. */
export function vendorOfEars(name: string): VendorOfEars | undefined {
  return byName.get(vendorNameOf(name))
}
