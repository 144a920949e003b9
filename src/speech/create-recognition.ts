// Recognition in calls: finds the vendor and the credential of an account, and opens a recogniser in the thread of
// streams.
import { AppError } from '../lib/errors.ts'
import {
  soundVendor,
  type Recognition,
  type RecognitionRequest,
  type Recognisers,
} from '../contracts/recognition.ts'
import type { SpeechCredentials } from './speech.ts'
import type { Settings } from './vendor.ts'

export interface RecognitionOptions {
  readonly recognisers: Recognisers
  readonly credentials: SpeechCredentials
}

/** Other names of vendors, under which credentials may not be stored. */
const sameVendor: Readonly<Record<string, string>> = { polly: 'aws' }

/** The members of `<vendor>Options` that stand for a credential. */
const ownKeys: readonly string[] = ['apiKey', 'uri', 'accessKey', 'deepgramSttUri']

export function createRecognition({ recognisers, credentials }: RecognitionOptions): Recognition {
  async function settingsFor(request: RecognitionRequest, vendor: string): Promise<Settings> {
    const { account_sid, label, vendorOptions } = request
    if (vendor === soundVendor) return {}
    const found = await credentials.find({ account_sid, vendor, label, voice: null, use: 'stt' })
    if (found !== undefined) return found.settings
    if (ownKeys.some((name) => typeof vendorOptions[name] === 'string')) return {}
    const named = label === null ? '' : ` with the label ${label}`
    throw new AppError(
      'recognizer_unknown',
      `there is no credential for ${vendor}${named} that may recognise speech`,
      { cure: `Add a speech credential for ${vendor} with use_for_stt, or name another vendor.` },
    )
  }

  return {
    async begin(request, onEvent) {
      const vendor = sameVendor[request.vendor] ?? request.vendor
      const because = recognisers.whyNot(vendor)
      if (because !== undefined) throw new AppError('recognizer_unknown', because)
      const settings = await settingsFor(request, vendor)
      const { account_sid: _account, label: _label, ...order } = request
      return recognisers.recognise({ ...order, vendor, settings }, onEvent)
    },
  }
}
