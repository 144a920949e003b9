// All vendors that hear a call while it goes on, by the names that credentials have.
import { custom } from './custom.ts'
import { deepgram } from './deepgram.ts'
import { deepgramFlux } from './deepgram-flux.ts'
import type { VendorOfEars } from './dialect.ts'
import { openai, whisper } from './openai.ts'

const all: readonly VendorOfEars[] = [custom, deepgram, deepgramFlux, openai, whisper]

const byName = new Map(all.map((vendor) => [vendor.name, vendor]))

/** Finds a vendor; one of the names `custom:<name>` is the custom one. */
export function vendorOfEars(name: string): VendorOfEars | undefined {
  return byName.get(name.startsWith('custom:') ? 'custom' : name)
}
