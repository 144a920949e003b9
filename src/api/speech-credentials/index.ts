// The endpoints of speech credentials, below accounts and below service providers.
import type { Level } from '../../http/route.ts'
import { etagOfRow, unlessSeen } from '../define/etag.ts'
import { createdReply } from '../define/record-routes.ts'
import { list as listOf } from '../define/reply-fields.ts'
import { defineRoute, everyone, type ApiRoute } from '../define/route.ts'
import { offer, offerQuery, test } from './ask-vendor.ts'
import { offerField } from './offer-field.ts'
import {
  createFields,
  credentialField,
  findAt,
  listAt,
  testField,
  toWire,
  updateFields,
} from './speech-credential.ts'
import { create, remove, update } from './write-credential.ts'

interface Base {
  readonly path: '/Accounts/{AccountSid}' | '/ServiceProviders/{ServiceProviderSid}'
  readonly of: string
  readonly testers: readonly Level[]
}

const tag = 'SpeechCredentials'
const parameters = { SpeechCredentialSid: 'The id of the speech credential.' }
const component = 'SpeechCredential'

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
      'The reference of speech vendors lists the fields of each vendor. Secrets are stored encrypted.',
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
    async handle(request) {
      const row = await findAt(request)
      return unlessSeen(toWire(row, request), etagOfRow(row), request)
    },
  })
  const change = defineRoute({
    ...common,
    method: 'PUT',
    operationId: `updateSpeechCredentialOf${of}`,
    summary: 'Changes those fields of a speech credential that may change.',
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
    summary: 'Speaks and listens with a speech credential, and returns the results.',
    reply: {
      status: 200,
      description: 'The results: `not tested` for a use that is switched off, or not implemented.',
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
    summary: 'Languages, voices and models of a vendor: from the vendor itself if there is a credential.',
    query: offerQuery,
    reply: { status: 200, description: 'What there is to choose from.', body: offerField },
    errors: ['synthesizer_unknown', 'speech_failed', 'account_share'],
    handle: (request) => offer(request.query, request),
  })
  return [tried, offered]
}
