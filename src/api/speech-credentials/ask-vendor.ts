// Requests to a vendor with a speech credential: a test, and the languages, voices and models that it offers.
import { systemTenancy } from '../../contracts/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { pickCredential } from '../../speech/pick-credential.ts'
import type { TestResult, TestResults } from '../../speech/try-vendor.ts'
import type { Offer } from '../../speech/vendor.ts'
import type { QueryValues } from '../define/field.ts'
import { flag, text } from '../define/fields.ts'
import type { ApiRequest } from '../define/request.ts'
import { settingsOf, type CredentialRow } from './settings.ts'
import { findAt, labelOf, listAt } from './speech-credential.ts'
import { vendorRule } from './vendors.ts'

export const offerQuery = {
  vendor: text({ min: 1, max: 64 })
    .describe('As in a speech credential. The lists are empty for a vendor that cannot be queried.')
    .example('google'),
  label: text({ max: 64 }).optional().describe('The label of the credential to use, if there are several.'),
  create_new: flag().optional().describe('1: do not query the vendor.'),
}

export async function test(request: ApiRequest): Promise<TestResults> {
  const { services } = request
  const row = await findAt(request)
  const uses = { tts: row.use_for_tts === 1, stt: row.use_for_stt === 1 }
  const { vendor } = row
  const results = await services.speech.test({
    vendor,
    settings: settingsOf(row),
    uses,
    signal: request.whenGone(),
  })
  // An account may test a shared credential, but not change it: the platform stores the result.
  await services.storage.for(systemTenancy).speech_credentials.update(row.speech_credential_sid, {
    last_tested: services.clock.now(),
    ...verdict('tts_tested_ok', results.tts),
    ...verdict('stt_tested_ok', results.stt),
  })
  return results
}

function verdict(column: 'tts_tested_ok' | 'stt_tested_ok', { status }: TestResult): Partial<CredentialRow> {
  return status === 'not tested' ? {} : { [column]: status === 'success' ? 1 : 0 }
}

export async function offer(
  { vendor, label, create_new }: QueryValues<typeof offerQuery>,
  request: ApiRequest,
): Promise<Offer> {
  const { services } = request
  const credential =
    create_new === 1 ? undefined : pickCredential(await listAt(request, { vendor }), labelOf(label))
  const settings = credential && settingsOf(credential)
  const found = await services.speech.offer({ vendor, settings, signal: request.whenGone() })
  if (found !== undefined) return found
  if (vendorRule(vendor) === undefined)
    throw new AppError('synthesizer_unknown', 'vendor is not a known vendor')
  // Credentials may be stored, but the vendor's offer is not known here.
  return { tts: [], stt: [] }
}
