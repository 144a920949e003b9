// The form of a speech credential on the wire, and the rules for reading and changing one.
import { insufficientPermissions } from '../../http/scopes.ts'
import { AppError } from '../../lib/errors.ts'
import { choice, createdAt, flag, recordSid, sid, text, time } from '../define/fields.ts'
import { createRecordForm } from '../define/record.ts'
import { object, word } from '../define/reply-fields.ts'
import type { ApiRequest } from '../define/request.ts'
import type { WireOf } from '../define/field.ts'
import { optionalSettings, showSettings, type CredentialRow } from './settings.ts'

const vendor = text({ min: 1, max: 64 })
  .describe('`google`, `aws`, `microsoft` ..., or `custom:` and a name.')
  .example('deepgram')
const label = text({ max: 64 })
  .nullable()
  .describe('Distinguishes credentials for one vendor; unique among them.')

const useForTts = flag().describe('1: it is used to speak.')
const useForStt = flag().describe('1: it is used to listen.')

export const createFields = {
  vendor,
  label,
  account_sid: sid()
    .optional()
    .describe('The account that owns it; left out below a service provider: all its accounts share it.'),
  service_provider_sid: sid().optional().describe('May repeat that of the path.'),
  use_for_tts: useForTts.default(1),
  use_for_stt: useForStt.default(1),
  ...optionalSettings,
}

export const updateFields = {
  vendor: vendor.optional(),
  label,
  use_for_tts: useForTts.optional(),
  use_for_stt: useForStt.optional(),
  ...optionalSettings,
}

const form = createRecordForm({
  speech_credential_sid: recordSid(),
  service_provider_sid: sid().nullable().describe('The service provider, of the account or of its own.'),
  account_sid: sid()
    .nullable()
    .describe('The account that owns it; null: all accounts of the service provider share it.'),
  vendor,
  label,
  use_for_tts: useForTts,
  use_for_stt: useForStt,
  last_used: time().nullable().describe('When it last served a call.'),
  last_tested: time().nullable().describe('When it was last tested.'),
  tts_tested_ok: flag().nullable().describe('The result of the last test of speaking: 1 passed, 0 failed.'),
  stt_tested_ok: flag().nullable().describe('The result of the last test of listening: 1 passed, 0 failed.'),
  created_at: createdAt(),
  ...optionalSettings,
})

export const credentialField = form.field

const testResult = object({
  status: choice(['success', 'fail', 'not tested']).describe(
    'not tested: it is not used for this, or the platform cannot query the vendor.',
  ),
  reason: word('The response of the vendor.').optional(),
})

export const testField = object({
  tts: testResult.describe('A sentence was spoken.'),
  stt: testResult.describe('A recording of that sentence was listened to.'),
})

/** Masks secrets for the owner and those above it, and omits them for accounts that share a provider's credential. */
export function toWire(
  row: CredentialRow,
  { caller }: Pick<ApiRequest, 'caller'>,
): WireOf<typeof credentialField> {
  const isShared = caller.tenancy.level === 'account' && row.account_sid === null
  const settings = showSettings(row, isShared ? 'left out' : 'masked')
  return form.toWire({ ...row, ...settings })
}

/** The account or provider in the path. */
export interface Place {
  readonly account_sid: string | null
  readonly service_provider_sid: string
}

export function placeOf({ account, provider }: ApiRequest): Place {
  if (account !== undefined) return account
  if (provider !== undefined) return { ...provider, account_sid: null }
  throw new Error('a speech credential needs an account or a provider in its path')
}

/**
 * Returns the credentials below a path: an account's own and those its provider shares; a provider's own and the
 * caller's.
 */
export async function listAt(
  request: ApiRequest,
  where: { readonly vendor?: string } = {},
): Promise<CredentialRow[]> {
  const { account_sid, service_provider_sid } = placeOf(request)
  const { tenancy } = request.caller
  const own = account_sid ?? (tenancy.level === 'account' ? tenancy.account_sid : undefined)
  const { speech_credentials } = request.rows
  const found = await Promise.all([
    own === undefined ? [] : speech_credentials.list({ where: { ...where, account_sid: own } }),
    speech_credentials.list({ where: { ...where, service_provider_sid, account_sid: null } }),
  ])
  return found.flat()
}

/** Treats a credential of another path as missing. */
export async function findAt(request: ApiRequest): Promise<CredentialRow> {
  const sid = request.params['SpeechCredentialSid'] ?? ''
  const place = placeOf(request)
  const row = await request.rows.speech_credentials.find(sid)
  const isThere =
    row?.service_provider_sid === place.service_provider_sid &&
    (place.account_sid === null || row.account_sid === null || row.account_sid === place.account_sid)
  if (row === undefined || !isThere) throw new AppError('not_found', 'no such speech credential')
  return row
}

export async function findOwnAt(request: ApiRequest): Promise<CredentialRow> {
  const row = await findAt(request)
  if (request.caller.tenancy.level === 'account' && row.account_sid === null) throw insufficientPermissions()
  return row
}

/** Returns the label; null if there is none, in whatever form that is sent. */
export function labelOf(given: unknown): string | null {
  return typeof given === 'string' && given !== '' ? given : null
}
