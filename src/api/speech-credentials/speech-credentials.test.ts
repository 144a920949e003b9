import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { covers } from '../../../test/support/covers.ts'
import { systemTenancy } from '../../contracts/caller.ts'
import { createSid } from '../../lib/ids.ts'
import { wavHeader } from '../../lib/audio/wav-header.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import { serveLocally, type LocalServer } from '../../../test/support/local-http.ts'
import { vendorNames } from './vendors.ts'

const secret = 'dg-0123456789abcdef0123456789abcdef'
const masked = `dg-012${'X'.repeat(secret.length - 6)}`

/** A stand-in for Deepgram on loopback, made from its documentation. */
let vendorServer: LocalServer
let answers = { tts: 200, stt: 200, words: 'hello this is a short test' }
let asked: string[] = []
let api: TestApi

beforeAll(async () => {
  api = await openTestApi()
  vendorServer = await serveLocally((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    request.resume().on('end', () => {
      const isSpeech = request.url?.startsWith('/v1/speak') === true
      const status = isSpeech ? answers.tts : answers.stt
      const json = { 'content-type': 'application/json' }
      if (status !== 200)
        response.writeHead(status, json).end(JSON.stringify({ err_msg: `no: ${secret} is bad` }))
      else if (isSpeech)
        response
          .writeHead(200, { 'content-type': 'audio/wav' })
          .end(Buffer.concat([wavHeader(8000, 160), Buffer.alloc(160)]))
      else {
        const alternatives = [{ transcript: answers.words }]
        response.writeHead(200, json).end(JSON.stringify({ results: { channels: [{ alternatives }] } }))
      }
    })
  })
})
afterAll(async () => {
  await api.close()
  await vendorServer.close()
})
beforeEach(() => {
  answers = { tts: 200, stt: 200, words: 'hello this is a short test' }
  asked = []
})

const ofAccount = (tenant = api.own): string => `/Accounts/${tenant.account_sid}/SpeechCredentials`
const ofProvider = (tenant = api.own): string =>
  `/ServiceProviders/${tenant.service_provider_sid}/SpeechCredentials`
const deepgram = (more: object = {}): object => ({
  vendor: 'deepgram',
  api_key: secret,
  deepgram_tts_uri: vendorServer.url,
  deepgram_stt_uri: vendorServer.url,
  ...more,
})

async function create(path: string, token: string, body: object = deepgram()): Promise<string> {
  const answer = await api.post(path, token, body)
  expect(answer.status, answer.text).toBe(201)
  return (answer.body as { sid: string }).sid
}

const stored = (sid: string) => api.storage.for(systemTenancy).speech_credentials.find(sid)

const serviceKey = JSON.stringify({
  client_email: 'a@b.example',
  private_key: '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n',
})

/** The fewest fields that make a credential, for each vendor. */
const least: Readonly<Record<string, object>> = {
  assemblyai: { api_key: secret },
  aws: { aws_region: 'us-east-1', access_key_id: 'AKIA', secret_access_key: secret },
  cartesia: { api_key: secret, model_id: 'm', stt_model_id: 's' },
  cobalt: { cobalt_server_uri: 'cobalt.example.com:2727' },
  'custom:mine': { auth_token: secret, custom_tts_url: 'https://tts.example.com/say' },
  deepgram: { api_key: secret },
  deepgramflux: { api_key: secret },
  elevenlabs: { api_key: secret, model_id: 'm' },
  gladia: { api_key: secret },
  google: { service_key: serviceKey },
  houndify: { client_id: 'c', client_key: secret, user_id: 'u' },
  ibm: { tts_api_key: secret, tts_region: 'us-south', stt_api_key: secret, stt_region: 'us-south' },
  inworld: { api_key: secret, model_id: 'm' },
  microsoft: { api_key: secret, region: 'westeurope' },
  nuance: { client_id: 'c', secret },
  nvidia: { riva_server_uri: 'riva.example.com:50051' },
  openai: { api_key: secret, model_id: 'gpt-4o-mini-tts' },
  playht: { api_key: secret, user_id: 'u', voice_engine: 'v' },
  resemble: { api_key: secret },
  rimelabs: { api_key: secret, model_id: 'm' },
  soniox: { api_key: secret },
  speechmatics: { api_key: secret, speechmatics_stt_uri: 'eu2.rt.speechmatics.com' },
  verbio: { client_id: 'c', client_secret: secret, engine_version: 'V1' },
  vosk: { custom_stt_url: 'ws://127.0.0.1:2700' },
  voxist: { api_key: secret },
  wellsaid: { api_key: secret },
  whisper: { api_key: secret, model_id: 'tts-1' },
}

describe('POST SpeechCredentials', () => {
  it('knows every vendor of the table here', () => {
    expect(Object.keys(least).filter((name) => !name.startsWith('custom:'))).toEqual(vendorNames)
  })

  it.each(Object.entries(least))(
    'makes one for %s, shows its fields, hides its secrets and takes back what it shows',
    async (vendor, fields) => {
      const sid = await create(ofAccount(), api.own.accountKey, {
        vendor,
        label: `least ${vendor}`,
        ...fields,
      })
      const answer = await api.get(`${ofAccount()}/${sid}`, api.own.accountKey)
      expect(answer.status).toBe(200)
      expect(answer.text).not.toContain(secret)
      expect(answer.text).not.toContain('MIIEvQ')
      expect(answer.body).toMatchObject({
        speech_credential_sid: sid,
        account_sid: api.own.account_sid,
        service_provider_sid: api.own.service_provider_sid,
        vendor,
        use_for_tts: 1,
        use_for_stt: 1,
        last_used: null,
        last_tested: null,
        tts_tested_ok: null,
        stt_tested_ok: null,
      })
      for (const name of Object.keys(fields)) expect(answer.body).toHaveProperty(name)
      const before = await stored(sid)
      const back = await api.put(`${ofAccount()}/${sid}`, api.own.accountKey, answer.body)
      expect(back.status, back.text).toBe(204)
      expect(JSON.parse((await stored(sid))!.settings)).toEqual(JSON.parse(before!.settings))
    },
  )

  it('keeps the secret whole for the vendor', async () => {
    const sid = await create(ofAccount(), api.own.accountKey)
    expect(JSON.parse((await stored(sid))!.settings)).toMatchObject({ api_key: secret })
  })

  it.each([
    ['no vendor', { vendor: undefined }, 'vendor is required'],
    ['an unknown vendor', { vendor: 'unknown' }, 'vendor must be'],
    ['the name of a member of every object', { vendor: 'constructor' }, 'vendor must be'],
    ['a custom vendor without a name', { vendor: 'custom:' }, 'vendor must be'],
    ['no key', { vendor: 'soniox', api_key: undefined }, 'api_key is required'],
    ['an empty key', { vendor: 'soniox', api_key: '' }, 'api_key is required'],
    ['a key that is a number', { api_key: 7 }, 'api_key must be text'],
    ['CR LF in a key', { api_key: 'a\r\nx: y' }, 'api_key must not contain control characters'],
    ['a long key', { api_key: 'x'.repeat(2049) }, 'api_key must have at most 2048'],
    [
      'a region that leads elsewhere',
      { vendor: 'microsoft', region: 'evil.example/#' },
      'region must have only',
    ],
    ['a relative URL', { vendor: 'custom:a', custom_tts_url: 'tts/say' }, 'custom_tts_url must be an http'],
    [
      'another scheme',
      { vendor: 'custom:a', custom_tts_url: 'file:///etc/passwd' },
      'custom_tts_url must be',
    ],
    ['options that are no JSON', { vendor: 'rimelabs', model_id: 'm', options: '{' }, 'options must be JSON'],
    [
      'options that are a list',
      { vendor: 'rimelabs', model_id: 'm', options: '[]' },
      'options must be the JSON',
    ],
    ['a damaged service key', { vendor: 'google', service_key: 'x' }, 'service_key must be JSON text'],
    ['a service key without a key', { vendor: 'google', service_key: '{"client_email":"a"}' }, 'private_key'],
    ['no region', { vendor: 'microsoft' }, 'region is required'],
    ['nothing of two choices', { vendor: 'nuance', api_key: undefined }, 'client_id is required'],
    ['no model for speech', { vendor: 'cartesia', stt_model_id: 's' }, 'model_id is required for tts'],
    ['no model for hearing', { vendor: 'cartesia', model_id: 's' }, 'stt_model_id is required for stt'],
    ['a word as flag', { use_for_tts: 'yes' }, 'use_for_tts must be'],
    ['a long label', { label: 'x'.repeat(65) }, 'label must have at most 64'],
    ['half an installation of one’s own', { api_key: null, deepgram_tts_uri: null }, 'api_key is required'],
    [
      'another provider',
      { service_provider_sid: createSid() },
      'service_provider_sid must be that of the path',
    ],
    ['another account', { account_sid: createSid() }, 'account_sid must be that of the path'],
  ])('answers 400 naming the field for %s, and makes nothing', async (_what, more, msg) => {
    const rows = api.storage.for(systemTenancy).speech_credentials
    const before = await rows.count()
    const answer = await api.post(ofAccount(), api.adminKey, deepgram(more))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
    expect(await rows.count()).toBe(before)
  })

  it('needs no model for what it is not used for', async () => {
    const body = { vendor: 'cartesia', api_key: secret, model_id: 'm', use_for_stt: 0 }
    await create(ofAccount(), api.own.accountKey, body)
  })

  it('answers 422 to a label that is in use for the vendor there, 201 elsewhere and for another vendor', async () => {
    const labelled = deepgram({ label: 'twice' })
    await create(ofAccount(), api.own.accountKey, labelled)
    const again = await api.post(ofAccount(), api.own.accountKey, labelled)
    expect(again.status).toBe(422)
    expect((again.body as { msg: string }).msg).toContain('twice')
    await create(ofProvider(), api.own.providerKey, labelled)
    expect((await api.post(ofProvider(), api.own.providerKey, labelled)).status).toBe(422)
    await create(ofAccount(api.sibling), api.adminKey, labelled)
    await create(ofAccount(), api.own.accountKey, { vendor: 'soniox', api_key: secret, label: 'twice' })
  })

  it('makes the provider’s own, one for an account it names, and always the account’s own for an account', async () => {
    const { account_sid, service_provider_sid } = api.own
    const shared = await create(ofProvider(), api.own.providerKey)
    expect(await stored(shared)).toMatchObject({ account_sid: null, service_provider_sid })
    const scoped = await create(ofProvider(), api.adminKey, deepgram({ account_sid }))
    expect(await stored(scoped)).toMatchObject({ account_sid, service_provider_sid })
    const own = await create(ofProvider(), api.own.accountKey)
    expect(await stored(own)).toMatchObject({ account_sid, service_provider_sid })
  })

  it('refuses an account of another provider or another account of its own', async () => {
    const foreign = deepgram({ account_sid: api.foreign.account_sid })
    expect((await api.post(ofProvider(), api.own.providerKey, foreign)).status).toBe(400)
    const sibling = deepgram({ account_sid: api.sibling.account_sid })
    expect((await api.post(ofProvider(), api.own.accountKey, sibling)).status).toBe(403)
  })
})

describe('GET SpeechCredentials', () => {
  it('lists an account its own and the shared, the shared without secrets', async () => {
    const own = await create(ofAccount(), api.own.accountKey)
    const shared = await create(ofProvider(), api.own.providerKey)
    const sibling = await create(ofAccount(api.sibling), api.sibling.accountKey)
    for (const path of [ofAccount(), ofProvider()]) {
      const answer = await api.get(path, api.own.accountKey)
      expect(answer.status).toBe(200)
      expect(answer.text).not.toContain(secret)
      const listed = answer.body as { speech_credential_sid: string; api_key?: string }[]
      const find = (sid: string) => listed.find(({ speech_credential_sid }) => speech_credential_sid === sid)
      expect(find(own)).toMatchObject({ api_key: masked })
      expect(find(shared)).toBeDefined()
      expect(find(shared)).not.toHaveProperty('api_key')
      expect(find(sibling)).toBeUndefined()
      const sids = listed.map(({ speech_credential_sid }) => speech_credential_sid)
      expect(new Set(sids).size).toBe(sids.length)
    }
    const one = await api.get(`${ofAccount()}/${shared}`, api.own.accountKey)
    expect(one.status).toBe(200)
    expect(one.body).not.toHaveProperty('api_key')
  })

  it('lists a provider its own, masked, and none of its accounts’', async () => {
    const own = await create(ofAccount(), api.own.accountKey)
    const listed = (await api.get(ofProvider(), api.own.providerKey)).body as {
      account_sid: string | null
      speech_credential_sid: string
      api_key?: string
    }[]
    expect(listed.every(({ account_sid }) => account_sid === null)).toBe(true)
    expect(listed.some(({ api_key }) => api_key === masked)).toBe(true)
    expect((await api.get(`${ofProvider()}/${own}`, api.own.providerKey)).status).toBe(200)
  })

  it('answers 400 to a malformed id, 404 alike to a missing, a foreign and a sibling’s', async () => {
    expect((await api.get(`${ofAccount()}/none`, api.own.accountKey)).status).toBe(400)
    const foreign = await create(ofAccount(api.foreign), api.foreign.accountKey)
    const sibling = await create(ofAccount(api.sibling), api.sibling.accountKey)
    const missing = await api.get(`${ofAccount()}/${createSid()}`, api.own.accountKey)
    for (const sid of [foreign, sibling]) {
      const answer = await api.get(`${ofAccount()}/${sid}`, api.own.accountKey)
      expect(answer.status).toBe(404)
      expect((answer.body as { msg: string }).msg).toBe((missing.body as { msg: string }).msg)
      // It does not exist under another owner's path, even for callers that may see both.
      expect((await api.get(`${ofAccount()}/${sid}`, api.adminKey)).status).toBe(404)
    }
  })
})

describe('PUT SpeechCredentials/{sid}', () => {
  it('changes the uses and what the vendor lets change, each in the JSON type it was sent in, and keeps the rest', async () => {
    const sid = await create(ofAccount(), api.own.accountKey)
    const changes = { use_for_stt: false, model_id: 'nova-3', deepgram_stt_use_tls: 1 }
    expect((await api.put(`${ofAccount()}/${sid}`, api.own.accountKey, changes)).status).toBe(204)
    const row = await stored(sid)
    expect(row).toMatchObject({ use_for_stt: 0, use_for_tts: 1 })
    expect(JSON.parse(row!.settings)).toMatchObject({
      api_key: secret,
      model_id: 'nova-3',
      deepgram_stt_use_tls: 1,
    })
    for (const deepgram_stt_use_tls of [false, true, 0]) {
      await api.put(`${ofAccount()}/${sid}`, api.own.accountKey, { deepgram_stt_use_tls })
      const shown = (await api.get(`${ofAccount()}/${sid}`, api.own.accountKey)).body as object
      expect(shown).toHaveProperty('deepgram_stt_use_tls', deepgram_stt_use_tls)
    }
    await api.put(`${ofAccount()}/${sid}`, api.own.accountKey, { model_id: null })
    expect(JSON.parse((await stored(sid))!.settings)).not.toHaveProperty('model_id')
  })

  it.each([
    ['another secret', { api_key: 'dg-another' }, 'api_key of a speech credential cannot be changed'],
    ['another vendor', { vendor: 'soniox' }, 'vendor of a speech credential'],
    ['another label', { label: 'new' }, 'label of a speech credential'],
    ['another id', { speech_credential_sid: createSid() }, 'speech_credential_sid of a speech credential'],
    ['another account', { account_sid: createSid() }, 'account_sid of a speech credential'],
    [
      'another provider',
      { service_provider_sid: createSid() },
      'service_provider_sid of a speech credential',
    ],
    ['a wrong type', { model_id: 7 }, 'model_id must be text'],
  ])('answers 400 to %s, and changes nothing', async (_what, change, msg) => {
    const sid = await create(ofAccount(), api.own.accountKey)
    const before = await stored(sid)
    const answer = await api.put(`${ofAccount()}/${sid}`, api.own.accountKey, change)
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
    expect(await stored(sid)).toEqual(before)
  })

  it('takes ids as they are in any case of letters, and empty ones for none', async () => {
    const sid = await create(ofAccount(), api.own.accountKey)
    const same = { speech_credential_sid: sid.toUpperCase(), account_sid: api.own.account_sid }
    const none = { account_sid: null, service_provider_sid: '' }
    for (const ids of [same, none])
      expect((await api.put(`${ofAccount()}/${sid}`, api.own.accountKey, ids)).status).toBe(204)
  })

  it('answers 400 when what remains is not whole', async () => {
    const { region: _region, ...rest } = least['microsoft'] as { region: string }
    const sid = await create(ofAccount(), api.own.accountKey, { vendor: 'microsoft', region: 'eu', ...rest })
    expect((await api.put(`${ofAccount()}/${sid}`, api.own.accountKey, { region: '' })).status).toBe(400)
  })

  it('answers 403 to an account for a shared one, 404 for a foreign one', async () => {
    const shared = await create(ofProvider(), api.own.providerKey)
    const change = { use_for_tts: 0 }
    expect((await api.put(`${ofAccount()}/${shared}`, api.own.accountKey, change)).status).toBe(403)
    expect((await api.put(`${ofProvider()}/${shared}`, api.own.accountKey, change)).status).toBe(403)
    expect((await api.put(`${ofProvider()}/${shared}`, api.own.providerKey, change)).status).toBe(204)
    const foreign = await create(ofProvider(api.foreign), api.adminKey)
    expect((await api.put(`${ofProvider()}/${foreign}`, api.own.providerKey, change)).status).toBe(404)
    expect((await stored(foreign))?.use_for_tts).toBe(1)
  })
})

describe('the ETag of a speech credential', () => {
  it('answers 304 to who has it, and 412 to who would write over what was changed since', async () => {
    const path = `${ofAccount()}/${await create(ofAccount(), api.own.accountKey)}`
    const send = (method: string, headers: Record<string, string>, body?: object) =>
      api.request(method, path, api.own.accountKey, { headers, ...(body && { body }) })
    const etag = String((await send('GET', {})).headers['etag'])
    expect((await send('GET', { 'if-none-match': etag })).status).toBe(304)
    expect((await send('PUT', { 'if-match': etag }, { use_for_stt: 0 })).status).toBe(204)
    expect((await send('GET', { 'if-none-match': etag })).status).toBe(200)
    expect((await send('PUT', { 'if-match': etag }, { use_for_stt: 1 })).status).toBe(412)
    expect((await send('DELETE', { 'if-match': etag })).status).toBe(412)
    expect((await send('DELETE', { 'if-match': '*' })).status).toBe(204)
  })
})

describe('DELETE SpeechCredentials/{sid}', () => {
  it('answers 204 once, through the path of the provider too, and 404 after that', async () => {
    const sid = await create(ofAccount(), api.own.accountKey)
    expect((await api.delete(`${ofProvider()}/${sid}`, api.own.accountKey)).status).toBe(204)
    expect((await api.delete(`${ofProvider()}/${sid}`, api.own.accountKey)).status).toBe(404)
  })

  it('answers 400 to a malformed id, 403 to an account for a shared one, 404 for a foreign one', async () => {
    expect((await api.delete(`${ofAccount()}/x`, api.own.accountKey)).status).toBe(400)
    const shared = await create(ofProvider(), api.own.providerKey)
    expect((await api.delete(`${ofProvider()}/${shared}`, api.own.accountKey)).status).toBe(403)
    const foreign = await create(ofAccount(api.foreign), api.adminKey)
    expect((await api.delete(`${ofAccount()}/${foreign}`, api.own.accountKey)).status).toBe(404)
    expect(await stored(foreign)).toBeDefined()
  })
})

describe('GET SpeechCredentials/{sid}/test', () => {
  it('answers 404 to a malformed id below a service provider, 400 below an account', async () => {
    expect((await api.get(`${ofProvider()}/x/test`, api.own.providerKey)).status).toBe(404)
    expect((await api.get(`${ofAccount()}/x/test`, api.own.accountKey)).status).toBe(400)
  })

  it(
    'really speaks and really listens, and remembers how it went',
    {
      timeout: 60_000,
      ...covers({
        section: 'Endpoints: Speech credential test',
        says: 'The result is success, fail with a reason, or not tested.',
      }),
    },
    async () => {
      const sid = await create(ofProvider(), api.own.providerKey)
      const answer = await api.get(`${ofProvider()}/${sid}/test`, api.own.providerKey)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({ tts: { status: 'success' }, stt: { status: 'success' } })
      expect(asked.sort()).toEqual([
        expect.stringMatching(/^POST \/v1\/listen\?model=nova-2&language=en-US Token dg-/),
        expect.stringMatching(/^POST \/v1\/speak\?model=aura-2-thalia-en&\S+ Token dg-/),
      ])
      expect(await stored(sid)).toMatchObject({ tts_tested_ok: 1, stt_tested_ok: 1 })
      expect((await stored(sid))!.last_tested).toBeGreaterThan(0)
    },
  )

  it(
    'says fail with the vendor’s reason, and not the secret in it',
    {
      timeout: 60_000,
      ...covers({
        section: 'Endpoints: Speech credential test',
        says: 'The result is success, fail with a reason, or not tested.',
      }),
    },
    async () => {
      const sid = await create(ofProvider(), api.own.providerKey)
      answers = { ...answers, tts: 401, words: '' }
      const answer = await api.get(`${ofProvider()}/${sid}/test`, api.adminKey)
      expect(answer.body).toEqual({
        tts: {
          status: 'fail',
          reason: 'deepgram refused the credential (status 401: no: [hidden] is bad)',
        },
        stt: { status: 'fail', reason: 'deepgram heard no words in the sample' },
      })
      expect(await stored(sid)).toMatchObject({ tts_tested_ok: 0, stt_tested_ok: 0 })
    },
  )

  it(
    'says not tested for a use that is off, and for vendors it cannot try',
    covers({
      section: 'Endpoints: Speech credential test',
      says: 'The result is success, fail with a reason, or not tested.',
    }),
    async () => {
      const sid = await create(ofAccount(), api.own.accountKey, deepgram({ use_for_tts: 0, use_for_stt: 0 }))
      const untested = { tts: { status: 'not tested' }, stt: { status: 'not tested' } }
      expect((await api.get(`${ofAccount()}/${sid}/test`, api.own.accountKey)).body).toEqual(untested)
      expect(asked).toEqual([])
      const nuance = { vendor: 'nuance', client_id: 'c', secret }
      const other = await create(ofAccount(), api.own.accountKey, nuance)
      expect((await api.get(`${ofAccount()}/${other}/test`, api.own.accountKey)).body).toEqual(untested)
      expect(await stored(other)).toMatchObject({ tts_tested_ok: null, stt_tested_ok: null })
    },
  )

  it(
    'is for administrators and providers below a provider, and for accounts below their own',
    { timeout: 60_000 },
    async () => {
      const shared = await create(ofProvider(), api.own.providerKey)
      expect((await api.get(`${ofProvider()}/${shared}/test`, api.own.accountKey)).status).toBe(403)
      expect((await api.get(`${ofAccount()}/${shared}/test`, api.own.accountKey)).status).toBe(200)
      expect((await stored(shared))!.tts_tested_ok).toBe(1)
      expect((await api.get(`${ofProvider(api.foreign)}/${shared}/test`, api.own.providerKey)).status).toBe(
        403,
      )
      expect((await api.get(`${ofProvider(api.foreign)}/${shared}/test`, api.adminKey)).status).toBe(404)
      expect((await api.get(`${ofProvider()}/${createSid()}/test`, api.adminKey)).status).toBe(404)
    },
  )
})

describe('POST TtsCache/Synthesize', () => {
  const path = ({ account_sid } = api.own): string => `/Accounts/${account_sid}/TtsCache/Synthesize`
  const wish = (speech_credential_sid: string, more: object = {}) => ({
    speech_credential_sid,
    text: 'Good morning.',
    language: 'en-US',
    voice: 'aura-2-thalia-en',
    ...more,
  })

  it('answers the sound of a credential of the account, or of one it shares', async () => {
    const own = await create(ofAccount(), api.own.accountKey)
    const shared = await create(ofProvider(), api.own.providerKey)
    for (const sid of [own, shared]) {
      asked = []
      const { status, headers, bytes } = await api.post(path(), api.own.accountKey, wish(sid))
      expect([status, headers['content-type']]).toEqual([200, 'application/octet-stream'])
      expect(Number(headers['sample-rate'])).toBeGreaterThanOrEqual(8000)
      // The response has whole samples, and no head of a WAV file.
      expect([
        bytes.length > 0,
        bytes.length % 2,
        bytes.subarray(0, 4).toString('latin1') === 'RIFF',
      ]).toEqual([true, 0, false])
      expect(asked).toEqual([expect.stringMatching(/^POST \/v1\/speak\?model=aura-2-thalia-en&/)])
    }
  })

  describe('with an Idempotency-Key', () => {
    const send = (body: object, token = api.own.accountKey, key = 'k1') =>
      api.request('POST', path(), token, { body, headers: { 'idempotency-key': key } })
    const clips = (): Promise<string[]> => readdir(join(api.dataDir, 'cache', 'speech'))

    it('that is sent again gets the same sound without a second question, though the credential is gone', async () => {
      const sid = await create(ofAccount(), api.own.accountKey)
      const first = await send(wish(sid))
      expect((await api.delete(`${ofAccount()}/${sid}`, api.own.accountKey)).status).toBe(204)
      const again = await send(wish(sid))
      expect([first.status, again.status]).toEqual([200, 200])
      expect(again.bytes.equals(first.bytes)).toBe(true)
      expect(again.headers['sample-rate']).toBe(first.headers['sample-rate'])
      expect([first, again].map(({ headers }) => headers['idempotency-replayed'])).toEqual([
        undefined,
        'true',
      ])
      expect(asked).toHaveLength(1)
    })

    it('asks the vendor again where the clip was removed meanwhile', async () => {
      const sid = await create(ofAccount(), api.own.accountKey)
      const before = await clips()
      const first = await send(wish(sid), api.own.accountKey, 'k2')
      for (const clip of await clips())
        if (!before.includes(clip)) await rm(join(api.dataDir, 'cache', 'speech', clip))
      const again = await send(wish(sid), api.own.accountKey, 'k2')
      expect(again.bytes.equals(first.bytes)).toBe(true)
      expect(asked).toHaveLength(2)
    })

    it('is refused with 422 for another text, and kept apart from the same key of another caller', async () => {
      const sid = await create(ofAccount(), api.own.accountKey)
      await send(wish(sid), api.own.accountKey, 'k3')
      const other = await send(wish(sid, { text: 'Good evening.' }), api.own.accountKey, 'k3')
      expect([other.status, other.body]).toEqual([
        422,
        expect.objectContaining({ code: 'idempotency_key_reused' }),
      ])
      expect((await send(wish(sid), api.adminKey, 'k3')).headers['idempotency-replayed']).toBeUndefined()
      expect(asked).toHaveLength(2)
    })

    it('keeps no failure; without one it keeps nothing at all', async () => {
      const sid = await create(ofAccount(), api.own.accountKey)
      const before = await clips()
      answers = { ...answers, tts: 500 }
      expect((await send(wish(sid), api.own.accountKey, 'k4')).status).not.toBe(200)
      answers = { ...answers, tts: 200 }
      await api.post(path(), api.own.accountKey, wish(sid))
      expect(await clips()).toEqual(before)
      expect((await send(wish(sid), api.own.accountKey, 'k4')).status).toBe(200)
    })
  })

  it('refuses a credential of another account, one that is not for speaking, and MP3', async () => {
    const foreign = await create(ofAccount(api.sibling), api.adminKey)
    const silent = await create(ofAccount(), api.own.accountKey, deepgram({ use_for_tts: 0 }))
    const own = await create(ofAccount(), api.own.accountKey)
    for (const body of [wish(foreign), wish(createSid()), wish(silent), wish(own, { encodingMp3: true })])
      expect((await api.post(path(), api.own.accountKey, body)).status).toBe(400)
    // This holds for every caller: the account in the path is the one that speaks.
    expect((await api.post(path(), api.adminKey, wish(foreign))).status).toBe(400)
    expect((await api.post(path(api.sibling), api.own.accountKey, wish(foreign))).status).toBe(403)
    expect(asked).toEqual([])
  })

  it('says what went wrong at the vendor, and not the secret in it', async () => {
    const sid = await create(ofAccount(), api.own.accountKey)
    answers = { ...answers, tts: 401 }
    const { status, body, text } = await api.post(path(), api.own.accountKey, wish(sid))
    expect(body).toMatchObject({ code: 'speech_failed' })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toContain(secret)
    const mute = await create(ofAccount(), api.own.accountKey, { vendor: 'nuance', client_id: 'c', secret })
    expect((await api.post(path(), api.own.accountKey, wish(mute))).body).toMatchObject({
      code: 'synthesizer_unknown',
    })
  })
})

describe('GET SpeechCredentials/speech/supportedLanguagesAndVoices', () => {
  const path = (query: string): string => `${ofAccount()}/speech/supportedLanguagesAndVoices?${query}`

  it('answers what is known of each vendor that speaks here without asking it', async () => {
    for (const vendor of ['aws', 'deepgram', 'elevenlabs', 'google', 'microsoft', 'openai']) {
      const answer = await api.get(path(`vendor=${vendor}&create_new=true`), api.own.accountKey)
      expect(answer.status).toBe(200)
      const { tts } = answer.body as { tts: { voices: { value: string; name: string }[] }[] }
      expect(tts[0]!.voices[0]).toEqual({ value: expect.any(String), name: expect.any(String) })
    }
    expect(asked).toEqual([])
  })

  it('answers models that speak and models that listen for deepgram', async () => {
    const answer = await api.get(path('vendor=deepgram&create_new=true'), api.own.accountKey)
    expect(answer.body).toMatchObject({
      models: expect.arrayContaining([{ value: 'aura-2-thalia-en', name: 'Aura 2 Thalia En' }]),
      sttModels: expect.arrayContaining([{ value: 'nova-3', name: 'Nova 3' }]),
    })
  })

  it('asks the vendor where there is a credential, and answers what is known to create a new one', async () => {
    const label = 'offer'
    await create(ofAccount(), api.own.accountKey, {
      vendor: 'elevenlabs',
      label,
      api_key: secret,
      model_id: 'm1',
      api_uri: vendorServer.url,
    })
    const query = `vendor=elevenlabs&label=${label}`
    const fetched = await api.get(path(query), api.own.accountKey)
    expect(fetched.body).toMatchObject({ tts: [], models: [] })
    expect(new Set(asked.map((line) => line.split(' ')[1]))).toEqual(new Set(['/v1/models', '/v1/voices']))
    asked = []
    const known = await api.get(path(`${query}&create_new=1`), api.own.accountKey)
    expect((known.body as { tts: unknown[] }).tts.length).toBeGreaterThan(20)
    expect(asked).toEqual([])
  })

  it('answers a model for each field that a vendor requires one for, so that a form can send it', async () => {
    for (const [vendor, fields] of Object.entries(least)) {
      const answer = await api.get(path(`vendor=${vendor}&create_new=true`), api.own.accountKey)
      const { models = [], sttModels = [] } = answer.body as Record<string, { value: string }[]>
      if ('model_id' in fields || 'voice_engine' in fields) expect(models, vendor).not.toEqual([])
      if ('stt_model_id' in fields) expect(sttModels, vendor).not.toEqual([])
    }
    const query = path('vendor=cartesia&create_new=1')
    const { models, sttModels } = (await api.get(query, api.own.accountKey)).body as Record<
      string,
      { value: string }[]
    >
    const chosen = { model_id: models![0]!.value, stt_model_id: sttModels![0]!.value, label: 'chosen' }
    await create(ofAccount(), api.own.accountKey, { vendor: 'cartesia', api_key: secret, ...chosen })
  })

  it('answers empty lists for a vendor whose credential needs no model', async () => {
    const answer = await api.get(path('vendor=nuance'), api.own.accountKey)
    expect(answer.body).toEqual({ tts: [], stt: [] })
  })

  it('answers 400 without a vendor, 422 for an unknown one', async () => {
    expect((await api.get(path(''), api.own.accountKey)).status).toBe(400)
    expect((await api.get(path('vendor=unknown'), api.own.accountKey)).status).toBe(422)
  })
})
