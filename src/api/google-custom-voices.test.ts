import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemTenancy } from '../contracts/caller.ts'
import { createSid } from '../lib/ids.ts'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import type { TestTenant } from '../../test/support/api-tenants.ts'

let api: TestApi
let own: string
let shared: string
let foreign: string
beforeAll(async () => {
  api = await openTestApi()
  const google = async (
    { account_sid, service_provider_sid }: TestTenant,
    isShared: boolean,
    label?: string,
  ) => {
    const row = await api.storage.for(systemTenancy).speech_credentials.insert({
      service_provider_sid,
      ...(isShared ? {} : { account_sid }),
      ...(label === undefined ? {} : { label }),
      vendor: 'google',
      settings: '{}',
    })
    return row.speech_credential_sid
  }
  own = await google(api.own, false, 'ours')
  shared = await google(api.own, true)
  foreign = await google(api.foreign, false)
})
afterAll(() => api.close())

const body = (more: object = {}): object => ({
  speech_credential_sid: own,
  name: 'announcer',
  model: 'projects/1/locations/us/models/2',
  ...more,
})

async function create(more: object = {}, token = api.own.accountKey): Promise<string> {
  const answer = await api.post('/GoogleCustomVoices', token, body(more))
  expect(answer.status, answer.text).toBe(201)
  return (answer.body as { sid: string }).sid
}

const stored = (sid: string) => api.storage.for(systemTenancy).google_custom_voices.find(sid)
const cloningKey = 'k'.repeat(2000)

function upload(sid: string, content: string, field = 'file', token = api.own.accountKey) {
  const part = `--b\r\nContent-Disposition: form-data; name="${field}"; filename="key.txt"\r\n\r\n${content}\r\n--b--\r\n`
  return api.request('POST', `/GoogleCustomVoices/${sid}/VoiceCloningKey`, token, {
    body: part,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
}

describe('POST /GoogleCustomVoices', () => {
  it('makes a voice, owned as its credential is', async () => {
    const { account_sid, service_provider_sid } = api.own
    expect(await stored(await create())).toMatchObject({
      account_sid,
      service_provider_sid,
      reported_usage: 'REALTIME',
      use_voice_cloning_key: 0,
      voice_cloning_key: null,
    })
    const providers = await create({ speech_credential_sid: shared }, api.own.providerKey)
    expect(await stored(providers)).toMatchObject({ account_sid: null, service_provider_sid })
  })

  it.each([
    ['no credential', { speech_credential_sid: undefined }, 'speech_credential_sid is required'],
    ['a missing credential', { speech_credential_sid: createSid() }, 'speech_credential_sid'],
    ['no name', { name: undefined }, 'name is required'],
    ['no model', { model: undefined }, 'model is required'],
    ['a long name', { name: 'x'.repeat(65) }, 'name must have at most 64'],
    ['a long model', { model: 'x'.repeat(513) }, 'model must have at most 512'],
    ['another usage', { reported_usage: 'SOMETIMES' }, 'reported_usage must be one of'],
    ['a word as flag', { use_voice_cloning_key: 'yes' }, 'use_voice_cloning_key must be'],
  ])('answers 400 naming the field for %s', async (_what, more, msg) => {
    const answer = await api.post('/GoogleCustomVoices', api.own.accountKey, body(more))
    expect(answer.status).toBe(400)
    expect((answer.body as { msg: string }).msg).toContain(msg)
  })

  it('answers 400 for a foreign credential and for one of another vendor, 403 for one that is only shared', async () => {
    const answer = await api.post(
      '/GoogleCustomVoices',
      api.own.accountKey,
      body({ speech_credential_sid: foreign }),
    )
    expect(answer.status).toBe(400)
    const { speech_credential_sid } = await api.storage
      .for(systemTenancy)
      .speech_credentials.insert({ account_sid: api.own.account_sid, vendor: 'soniox', settings: '{}' })
    expect(
      (await api.post('/GoogleCustomVoices', api.adminKey, body({ speech_credential_sid }))).status,
    ).toBe(400)
    const only = await api.post(
      '/GoogleCustomVoices',
      api.own.accountKey,
      body({ speech_credential_sid: shared }),
    )
    expect(only.status).toBe(403)
  })
})

describe('GET /GoogleCustomVoices', () => {
  it('lists those of a credential, named by its id or by owner and label', async () => {
    const sid = await create()
    const { account_sid, service_provider_sid } = api.own
    for (const query of [`speech_credential_sid=${own}`, `account_sid=${account_sid}&label=ours`]) {
      const answer = await api.get(`/GoogleCustomVoices?${query}`, api.own.accountKey)
      expect(answer.status).toBe(200)
      const listed = answer.body as { google_custom_voice_sid: string }[]
      expect(listed.map(({ google_custom_voice_sid }) => google_custom_voice_sid)).toContain(sid)
    }
    const ofProvider = await api.get(
      `/GoogleCustomVoices?service_provider_sid=${service_provider_sid}&label=`,
      api.own.accountKey,
    )
    expect(ofProvider.status).toBe(200)
  })

  it('answers 404 alike for a missing and a foreign credential', async () => {
    for (const sid of [createSid(), foreign]) {
      const answer = await api.get(`/GoogleCustomVoices?speech_credential_sid=${sid}`, api.own.accountKey)
      expect(answer.status).toBe(404)
    }
  })

  it('answers 200 [] where no credential is named, and where the owner named has none', async () => {
    for (const query of [
      '',
      '?account_sid=&label=',
      `?account_sid=${api.foreign.account_sid}`,
      `?account_sid=${api.own.account_sid}&label=none`,
    ]) {
      const answer = await api.get(`/GoogleCustomVoices${query}`, api.own.accountKey)
      expect([answer.status, answer.body]).toEqual([200, []])
    }
  })
})

describe('GET, PUT and DELETE /GoogleCustomVoices/{sid}', () => {
  it('answer the record with its key shortened, and take the shortened key back', async () => {
    const sid = await create({ voice_cloning_key: cloningKey, use_voice_cloning_key: true })
    const answer = await api.get(`/GoogleCustomVoices/${sid}`, api.own.accountKey)
    expect(answer.body).toMatchObject({
      google_custom_voice_sid: sid,
      speech_credential_sid: own,
      voice_cloning_key: `${'k'.repeat(100)}...`,
      use_voice_cloning_key: 1,
    })
    const back = { ...(answer.body as object), name: 'other' }
    expect((await api.put(`/GoogleCustomVoices/${sid}`, api.own.accountKey, back)).status).toBe(204)
    expect(await stored(sid)).toMatchObject({ name: 'other', voice_cloning_key: cloningKey })
  })

  it('show little of a short key', async () => {
    const sid = await create({ voice_cloning_key: 'short-key' })
    const answer = await api.get(`/GoogleCustomVoices/${sid}`, api.own.accountKey)
    expect(answer.body).toMatchObject({ voice_cloning_key: 'sh...' })
  })

  it('answer 404 to others, and 403 to an account that would change a shared one', async () => {
    const sid = await create()
    const path = `/GoogleCustomVoices/${sid}`
    for (const token of [api.sibling.accountKey, api.foreign.accountKey, api.foreign.providerKey]) {
      expect((await api.get(path, token)).status).toBe(404)
      expect((await api.put(path, token, { name: 'x' })).status).toBe(404)
      expect((await api.delete(path, token)).status).toBe(404)
    }
    const providers = `/GoogleCustomVoices/${await create({ speech_credential_sid: shared }, api.own.providerKey)}`
    expect((await api.get(providers, api.own.accountKey)).status).toBe(200)
    expect((await api.put(providers, api.own.accountKey, { name: 'x' })).status).toBe(403)
    expect((await api.delete(providers, api.own.accountKey)).status).toBe(403)
    expect((await api.delete(path, api.own.accountKey)).status).toBe(204)
    expect(await stored(sid)).toBeUndefined()
  })

  it('are gone with their credential', async () => {
    const rows = api.storage.for(systemTenancy)
    const { speech_credential_sid } = await rows.speech_credentials.insert({
      account_sid: api.own.account_sid,
      vendor: 'google',
      settings: '{"service_key":"{}"}',
    })
    const sid = await create({ speech_credential_sid })
    const path = `/Accounts/${api.own.account_sid}/SpeechCredentials/${speech_credential_sid}`
    expect((await api.delete(path, api.own.accountKey)).status).toBe(204)
    expect(await stored(sid)).toBeUndefined()
  })
})

describe('POST /GoogleCustomVoices/{sid}/VoiceCloningKey', () => {
  it('stores the key of the file', async () => {
    const sid = await create()
    expect((await upload(sid, `${cloningKey}\n`)).status).toBe(204)
    expect((await stored(sid))?.voice_cloning_key).toBe(cloningKey)
  })

  it('answers 400 without a file, with an empty one and with a damaged body', async () => {
    const sid = await create()
    expect((await upload(sid, 'x', 'other')).status).toBe(400)
    expect((await upload(sid, '')).status).toBe(400)
    const damaged = await api.request(
      'POST',
      `/GoogleCustomVoices/${sid}/VoiceCloningKey`,
      api.own.accountKey,
      {
        body: 'x',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      },
    )
    expect(damaged.status).toBe(400)
    expect((await stored(sid))?.voice_cloning_key).toBeNull()
  })

  it('answers 404 for a missing and a foreign voice, 403 for a shared one', async () => {
    const sid = await create()
    expect((await upload(createSid(), 'k')).status).toBe(404)
    expect((await upload(sid, 'k', 'file', api.foreign.accountKey)).status).toBe(404)
    const providers = await create({ speech_credential_sid: shared }, api.own.providerKey)
    expect((await upload(providers, 'k')).status).toBe(403)
    expect((await stored(providers))?.voice_cloning_key).toBeNull()
  })
})
