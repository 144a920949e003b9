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
import { vosk } from './vosk.ts'

const all: readonly VendorOfEars[] = [
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

const byName = new Map(all.map((vendor) => [vendor.name, vendor]))

/** Finds a vendor; one of the names `custom:<name>` is the custom one, and `polly` is another name of AWS. */
export function vendorOfEars(name: string): VendorOfEars | undefined {
  return byName.get(name.startsWith('custom:') ? 'custom' : name === 'polly' ? 'aws' : name)
}
