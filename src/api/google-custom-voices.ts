// The resource GoogleCustomVoice: a voice that a customer had made at Google. Each belongs to a credential for Google.
import { AppError } from '../lib/errors.ts'
import { choice, createdAt, flag, recordSid, sid, text } from './define/fields.ts'
import { createField, type Field } from './define/field.ts'
import { list as listOf } from './define/reply-fields.ts'
import { defineResource } from './define/resource.ts'
import { defineRoute, everyone, type ApiRoute } from './define/route.ts'
import type { Row } from '../storage/storage.ts'

// Google's keys have some ten thousand characters; this limit leaves room.
const maxKeyLength = 500_000
const shownOfKey = 100

/** Shortens a key: long enough to tell two apart, and too short to clone a voice with. */
function shorten(key: string): string {
  return `${key.slice(0, Math.min(shownOfKey, Math.floor(key.length / 4)))}...`
}

/** Ignores the shortened form, which may be sent back. */
function cloningKey(): Field<string | null, 'optional'> {
  const { facts } = text({ max: maxKeyLength, anyCharacters: true }).nullable().masked(shorten)
  const normalize = (value: unknown): unknown =>
    typeof value === 'string' && value.endsWith('...') && value.length <= shownOfKey + 3 ? undefined : value
  return createField({ ...facts, normalize })
}

const resource = defineResource({
  name: 'GoogleCustomVoice',
  noun: 'custom voice',
  path: '/GoogleCustomVoices',
  summary: 'A voice made at Google for one customer.',
  table: 'google_custom_voices',
  owner: { partOf: 'speech_credential_sid' },
  operations: ['create', 'read', 'update', 'delete'],
  fields: {
    google_custom_voice_sid: recordSid(),
    speech_credential_sid: sid('speech_credentials')
      .fixedAfterCreate()
      .describe('The credential for google that it is used with.'),
    name: text({ min: 1, max: 64 }).describe('The name shown to people.').example('our announcer'),
    model: text({ min: 1, max: 512 }).describe('The name of the model, as Google gives it.'),
    reported_usage: choice(['REPORTED_USAGE_UNSPECIFIED', 'REALTIME', 'OFFLINE'])
      .default('REALTIME')
      .describe('The use of the voice that is reported to Google.'),
    voice_cloning_key: cloningKey().describe(
      'Shown shortened; sending the shortened form back changes nothing.',
    ),
    use_voice_cloning_key: flag()
      .default(0)
      .describe('1: voice_cloning_key identifies the voice, 0: model does.'),
    created_at: createdAt(),
  },
  async beforeCreate({ speech_credential_sid }, { rows }) {
    const credential = await rows.speech_credentials.find(speech_credential_sid)
    if (credential?.vendor !== 'google')
      throw new AppError('bad_request', 'speech_credential_sid must name a credential for google')
    return undefined
  },
})

const list = defineRoute({
  method: 'GET',
  path: '/GoogleCustomVoices',
  access: everyone,
  operationId: 'listGoogleCustomVoices',
  tag: 'GoogleCustomVoices',
  summary: 'Lists the custom voices of a credential.',
  description:
    'The credential is named by its id, or by its label with the account or service provider it belongs to; if none is named, ' +
    'or none exists, the list is empty.',
  query: {
    speech_credential_sid: sid().optional().describe('The credential.'),
    account_sid: sid().optional().describe('Or the account that has it.'),
    service_provider_sid: sid().optional().describe('Or the service provider that has it.'),
    label: text({ max: 64 }).optional().describe('Its label; the one without a label when left out.'),
  },
  reply: {
    status: 200,
    description: 'All of them.',
    body: listOf(resource.field),
    component: 'GoogleCustomVoice',
  },
  errors: ['not_found'],
  async handle(request) {
    const { rows, query } = request
    const { speech_credential_sid: sid, account_sid, service_provider_sid, label } = query
    let credential: Row<'speech_credentials'> | undefined
    if (typeof sid === 'string') credential = await rows.speech_credentials.find(sid)
    else {
      const owner =
        typeof account_sid === 'string'
          ? { account_sid }
          : typeof service_provider_sid === 'string'
            ? { service_provider_sid, account_sid: null }
            : undefined
      if (owner === undefined) return []
      const where = { ...owner, vendor: 'google', label: label ?? null }
      credential = (await rows.speech_credentials.list({ where, limit: 1 }))[0]
    }
    if (credential === undefined) {
      if (typeof sid === 'string') throw new AppError('not_found', 'no such speech credential')
      return []
    }
    const { speech_credential_sid } = credential
    return resource.toWire(
      await rows.google_custom_voices.list({ where: { speech_credential_sid } }),
      request,
    )
  },
})

const uploadKey = defineRoute({
  method: 'POST',
  path: '/GoogleCustomVoices/{GoogleCustomVoiceSid}/VoiceCloningKey',
  parameters: { GoogleCustomVoiceSid: 'The id of the custom voice.' },
  access: everyone,
  operationId: 'uploadVoiceCloningKey',
  tag: 'GoogleCustomVoices',
  summary: 'Stores the voice cloning key of a custom voice.',
  description: 'As multipart/form-data with the key in `file`.',
  body: {
    file: text({ min: 1, max: maxKeyLength, anyCharacters: true }).describe('The key, as Google gave it.'),
  },
  reply: { status: 204, description: 'Stored.' },
  errors: ['not_found'],
  async handle({ params, body, caller, services }) {
    const { GoogleCustomVoiceSid } = params
    await services.storage.transaction(caller.tenancy, async ({ google_custom_voices }) => {
      const voice = await google_custom_voices.find(GoogleCustomVoiceSid)
      if (voice === undefined) throw new AppError('not_found', 'no such custom voice')
      if (caller.tenancy.level === 'account' && voice.account_sid === null)
        throw new AppError('not_permitted', 'insufficient permissions')
      await google_custom_voices.update(GoogleCustomVoiceSid, { voice_cloning_key: body.file.trim() })
    })
  },
})

export const googleCustomVoiceRoutes: readonly ApiRoute[] = [list, ...resource.routes, uploadKey]
