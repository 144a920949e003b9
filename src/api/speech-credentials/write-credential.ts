// Making, changing and removing a speech credential: its owner, and the fields that may change.
import { insufficientPermissions } from '../../http/scopes.ts'
import { AppError } from '../../lib/errors.ts'
import { createSid } from '../../lib/ids.ts'
import { demandTag, etagOfRow } from '../define/etag.ts'
import { demandQuota } from '../define/operator-rules.ts'
import type { ApiRequest } from '../define/request.ts'
import { changeSettings, demandRule, takeSettings, type CredentialRow } from './settings.ts'
import { findOwnAt, labelOf, placeOf, type Place } from './speech-credential.ts'

export async function create(request: ApiRequest): Promise<{ readonly sid: string }> {
  const { body, caller, services } = request
  const vendor = String(body['vendor'])
  const settings = takeSettings(demandRule(vendor), body)
  const { use_for_tts, use_for_stt } = body as Pick<CredentialRow, 'use_for_tts' | 'use_for_stt'>
  const label = labelOf(body['label'])
  const speech_credential_sid = createSid()
  await services.storage.transaction(caller.tenancy, async (rows) => {
    const owner = await ownerOfNew({ ...request, rows })
    await demandQuota('speech_credentials', { ...request, rows })
    const same = {
      service_provider_sid: owner.service_provider_sid,
      account_sid: owner.account_sid,
      vendor,
      label,
    }
    // There may be several without a label; the oldest one is used.
    if (label !== null && (await rows.speech_credentials.count({ where: same })) > 0)
      throw new AppError(
        'duplicate',
        `there is a speech credential for ${vendor} labelled "${label}" already`,
      )
    await rows.speech_credentials.insert({
      speech_credential_sid,
      service_provider_sid: owner.service_provider_sid,
      ...(owner.account_sid === null ? {} : { account_sid: owner.account_sid }),
      vendor,
      label,
      settings: JSON.stringify(settings),
      use_for_tts,
      use_for_stt,
    })
  })
  services.log.info({ table: 'speech_credentials', sid: speech_credential_sid }, 'record created')
  return { sid: speech_credential_sid }
}

/**
 * Returns the owner: an account itself, whichever path it uses; others may name an account of the provider in the path.
 */
async function ownerOfNew(request: ApiRequest): Promise<Place> {
  const place = placeOf(request)
  const { tenancy } = request.caller
  const { account_sid, service_provider_sid = place.service_provider_sid } = request.body as Partial<Place>
  if (service_provider_sid !== null && service_provider_sid !== place.service_provider_sid)
    throw new AppError('bad_request', 'service_provider_sid must be that of the path')
  const implied = tenancy.level === 'account' ? tenancy.account_sid : place.account_sid
  if (implied !== null) {
    if (account_sid === undefined || account_sid === null || account_sid === implied)
      return { ...place, account_sid: implied }
    throw tenancy.level === 'account'
      ? insufficientPermissions()
      : new AppError('bad_request', 'account_sid must be that of the path')
  }
  if (account_sid === undefined || account_sid === null) return place
  const account = await request.rows.accounts.find(account_sid)
  if (account?.service_provider_sid === place.service_provider_sid) return account
  throw new AppError('bad_request', 'account_sid names no account of this service provider')
}

export async function update(request: ApiRequest): Promise<void> {
  const { body, caller, services } = request
  await services.storage.transaction(caller.tenancy, async (rows) => {
    const row = await findOwnAt({ ...request, rows })
    demandTag(request.headers, etagOfRow(row))
    refuseFixed(row, request)
    const { use_for_tts, use_for_stt } = body as Partial<Pick<CredentialRow, 'use_for_tts' | 'use_for_stt'>>
    await rows.speech_credentials.update(row.speech_credential_sid, {
      settings: JSON.stringify(changeSettings(row, body)),
      ...(use_for_tts === undefined || use_for_tts === null ? {} : { use_for_tts }),
      ...(use_for_stt === undefined || use_for_stt === null ? {} : { use_for_stt }),
    })
  })
}

const ids = ['speech_credential_sid', 'account_sid', 'service_provider_sid'] as const

function refuseFixed(
  row: CredentialRow,
  { body: { vendor = row.vendor, label }, rawBody }: Pick<ApiRequest, 'body' | 'rawBody'>,
): void {
  const sent = (rawBody ?? {}) as Readonly<Record<string, unknown>>
  // Clients send an empty id for a record that their form lacks.
  const isOther = (id: unknown, own: string | null): boolean =>
    typeof id === 'string' && id !== '' && id.toLowerCase() !== own
  const changed =
    vendor !== null && vendor !== row.vendor
      ? 'vendor'
      : label !== undefined && labelOf(label) !== row.label
        ? 'label'
        : ids.find((name) => isOther(sent[name], row[name]))
  if (changed !== undefined)
    throw new AppError('bad_request', `${changed} of a speech credential cannot be changed`)
}

export async function remove(request: ApiRequest): Promise<void> {
  const { caller, services } = request
  const { speech_credential_sid: sid } = await services.storage.transaction(caller.tenancy, async (rows) => {
    const row = await findOwnAt({ ...request, rows })
    demandTag(request.headers, etagOfRow(row))
    await rows.speech_credentials.remove(row.speech_credential_sid)
    return row
  })
  services.log.info({ table: 'speech_credentials', sid }, 'record removed')
}
