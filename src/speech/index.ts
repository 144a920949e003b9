// All speech vendors. The first one is the embedded voice, which stands in for vendors that are not available.
import { createAws } from './aws.ts'
import { createCustom } from './custom.ts'
import { createDeepgram } from './deepgram.ts'
import { createElevenLabs } from './elevenlabs.ts'
import { createFlite } from './flite.ts'
import { createGoogle } from './google.ts'
import { createMicrosoft } from './microsoft.ts'
import { createOpenAi, createWhisper } from './openai.ts'
import type { VendorMaker } from './vendor.ts'

export const vendorMakers: readonly [VendorMaker, ...VendorMaker[]] = [
  createFlite,
  (options) => createAws(options),
  createCustom,
  createDeepgram,
  createElevenLabs,
  (options) => createGoogle(options),
  (options) => createMicrosoft(options),
  (options) => createOpenAi(options),
  createWhisper,
]
