// All the API says about speech credentials, which stand below accounts and below service providers.
import { insufficientPermissions } from '../../http/scopes.ts'
import type { Level } from '../../http/route.ts'
import { systemTenancy } from '../../lib/caller.ts'
import { AppError } from '../../lib/errors.ts'
import { createSid } from '../../lib/ids.ts'
import { pickCredential } from '../../speech/pick-credential.ts'
import type { Offer } from '../../speech/vendor.ts'
import type { TestResult, TestResults } from '../../speech/try-vendor.ts'
import { demandTag, etagOfRow, unlessSeen } from '../define/etag.ts'
import type { QueryValues, WireOf } from '../define/field.ts'
import { flag, text } from '../define/fields.ts'
import { demandQuota } from '../define/operator-rules.ts'
import { createdReply } from '../define/record-routes.ts'
import { list as listOf } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import type { ApiRoute } from '../define/route.ts'
import type { ApiRequest } from '../define/request.ts'
import { changeSettings, demandRule, settingsOf, takeSettings } from './settings.ts'
import type { CredentialRow } from './settings.ts'
import {
  createFields,
  credentialField,
  findAt,
  findOwnAt,
  listAt,
  placeOf,
  testField,
  toWire,
  updateFields,
} from './speech-credential.ts'
import type { Place } from './speech-credential.ts'
import { offerField } from './offer-field.ts'
import { vendorRule } from './vendors.ts'

interface Base {
  readonly path: '/Accounts/{AccountSid}' | '/ServiceProviders/{ServiceProviderSid}'
  readonly of: string
  readonly testers: readonly Level[]
}

const tag = 'SpeechCredentials'
const parameters = { SpeechCredentialSid: 'The id of the speech credential.' }
const component = 'SpeechCredential'

const offerQuery = {
  vendor: text({ min: 1, max: 64 })
    .describe('As in a speech credential; empty lists of a vendor that cannot be asked.')
    .example('google'),
  label: text({ max: 64 }).optional().describe('Which of several credentials to ask with.'),
  create_new: flag().optional().describe('1: do not ask the vendor.'),
}

export const speechCredentialRoutes: readonly ApiRoute[] = (
  [
    { path: '/Accounts/{AccountSid}', of: 'Account', testers: everyone },
    {
      path: '/ServiceProviders/{ServiceProviderSid}',
      of: 'ServiceProvider',
      testers: ['admin', 'service_provider'],
    },
  ] satisfies readonly Base[]
).flatMap((base) => [...listBelow(base), ...oneBelow(base), ...vendorBelow(base)])

function listBelow({ path: base, of }: Base): ApiRoute[] {
  const path = `${base}/SpeechCredentials` as const
  const list = defineRoute({
    method: 'GET',
    path,
    access: everyone,
    operationId: `listSpeechCredentialsOf${of}`,
    tag,
    summary: 'Lists speech credentials, those shared by the service provider included.',
    reply: {
      status: 200,
      description: 'All of them, secrets masked.',
      body: listOf(credentialField),
      component,
    },
    handle: async (request) => (await listAt(request)).map((row) => toWire(row, request)),
  })
  const make = defineRoute({
    method: 'POST',
    path,
    access: everyone,
    operationId: `createSpeechCredentialOf${of}`,
    tag,
    summary: 'Makes a speech credential: the key, and what else its vendor needs.',
    description:
      'Which fields a vendor has is in the reference of speech vendors. Secrets are stored encrypted.',
    body: createFields,
    reply: createdReply,
    errors: ['duplicate', 'quota_reached'],
    handle: create,
  })
  return [list, make]
}

function oneBelow({ path: base, of }: Base): ApiRoute[] {
  const path = `${base}/SpeechCredentials/{SpeechCredentialSid}` as const
  const common = { path, access: everyone, tag, parameters, errors: ['not_found'], hasEtag: true } as const
  const get = defineRoute({
    ...common,
    method: 'GET',
    operationId: `getSpeechCredentialOf${of}`,
    summary: 'A speech credential, its secrets masked.',
    reply: { status: 200, description: 'The record.', body: credentialField, component },
    handle: read,
  })
  const change = defineRoute({
    ...common,
    method: 'PUT',
    operationId: `updateSpeechCredentialOf${of}`,
    summary: 'Changes what may change of a speech credential.',
    description:
      'Fields that are left out keep their values. Secrets, vendor and label cannot be changed; they may be sent back.',
    body: updateFields,
    isPartial: true,
    reply: { status: 204, description: 'Changed.' },
    handle: update,
  })
  const drop = defineRoute({
    ...common,
    method: 'DELETE',
    operationId: `deleteSpeechCredentialOf${of}`,
    summary: 'Removes a speech credential and its custom voices.',
    reply: { status: 204, description: 'Removed.' },
    handle: remove,
  })
  return [get, change, drop]
}

function vendorBelow({ path: base, of, testers }: Base): ApiRoute[] {
  const path = `${base}/SpeechCredentials` as const
  const tried = defineRoute({
    method: 'GET',
    path: `${path}/{SpeechCredentialSid}/test`,
    parameters,
    access: testers,
    isChanging: true,
    operationId: `testSpeechCredentialOf${of}`,
    tag,
    summary: 'Speaks and listens with a speech credential, and tells how that went.',
    reply: {
      status: 200,
      description: 'How it went: `not tested` for a use that is switched off, or not implemented.',
      body: testField,
      component: 'SpeechCredentialTest',
    },
    errors: ['not_found'],
    handle: test,
  })
  const offered = defineRoute({
    method: 'GET',
    path: `${path}/speech/supportedLanguagesAndVoices`,
    access: everyone,
    operationId: `listSpeechVoicesOf${of}`,
    tag,
    summary: 'Languages, voices and models of a vendor: from the vendor itself where there is a credential.',
    query: offerQuery,
    reply: { status: 200, description: 'What there is to choose from.', body: offerField },
    errors: ['synthesizer_unknown', 'speech_failed'],
    handle: (request) => offer(request.query, request),
  })
  return [tried, offered]
}

async function create(request: ApiRequest): Promise<{ readonly sid: string }> {
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
    // Without a label several may stand side by side; the oldest serves.
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

/** An account makes its own, whichever path it takes; others may name an account of the provider in the path. */
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

async function read(request: ApiRequest): Promise<WireOf<typeof credentialField> | undefined> {
  const row = await findAt(request)
  return unlessSeen(toWire(row, request), etagOfRow(row), request)
}

async function update(request: ApiRequest): Promise<void> {
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
  // Clients send empty ids for whatever their form does not know.
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

function labelOf(given: unknown): string | null {
  return typeof given === 'string' && given !== '' ? given : null
}

async function remove(request: ApiRequest): Promise<void> {
  const { caller, services } = request
  const { speech_credential_sid: sid } = await services.storage.transaction(caller.tenancy, async (rows) => {
    const row = await findOwnAt({ ...request, rows })
    demandTag(request.headers, etagOfRow(row))
    await rows.speech_credentials.remove(row.speech_credential_sid)
    return row
  })
  services.log.info({ table: 'speech_credentials', sid }, 'record removed')
}

async function test(request: ApiRequest): Promise<TestResults> {
  const { services } = request
  const row = await findAt(request, '/test')
  const uses = { tts: row.use_for_tts === 1, stt: row.use_for_stt === 1 }
  const { vendor } = row
  const results = await services.speech.test({
    vendor,
    settings: settingsOf(row),
    uses,
    signal: request.whenGone(),
  })
  // Whoever may use a shared credential may try it, and so leave a mark that it may not write itself.
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

async function offer(
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
    throw new AppError('synthesizer_unknown', 'vendor is none of the known vendors')
  // Credentials for it may be kept; what it offers is not known here.
  return { tts: [], stt: [] }
}
