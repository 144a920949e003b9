import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../test/support/wait.ts'
import { systemTenancy } from '../contracts/caller.ts'
import { createSid } from '../lib/ids.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import type { SpeechCredentials } from '../speech/speech.ts'
import { createSpeechDirectory } from './speech-credentials.ts'
import type { Row } from '../storage/storage.ts'
import {
  makeAccount,
  openTestStorage,
  type TestAccount,
  type TestStorage,
} from '../../test/support/each-store.ts'

const clock = createFakeClock()
let test: TestStorage
let own: TestAccount
let sibling: TestAccount
let foreign: TestAccount
let directory: SpeechCredentials
beforeAll(async () => {
  test = await openTestStorage()
  own = await makeAccount(test.storage)
  sibling = await makeAccount(test.storage, own.service_provider_sid)
  foreign = await makeAccount(test.storage)
  directory = createSpeechDirectory({ storage: test.storage, clock, log: silentLogger })
})
afterAll(() => test.close())

const rows = () => test.storage.for(systemTenancy)

async function insert(more: Partial<Row<'speech_credentials'>>): Promise<string> {
  const row = await rows().speech_credentials.insert({ settings: '{}', ...more })
  return row.speech_credential_sid
}

const find = (
  vendor: string,
  more: { account_sid?: string; label?: string; voice?: string; use?: 'tts' | 'stt' } = {},
) => directory.find({ account_sid: own.account_sid, vendor, label: null, voice: null, use: 'tts', ...more })

describe('find', () => {
  it('finds the account’s before its provider’s, and neither a sibling’s nor a foreign one', async () => {
    const { account_sid, service_provider_sid } = own
    await insert({ vendor: 'aws', account_sid: sibling.account_sid })
    await insert({ vendor: 'aws', account_sid: foreign.account_sid })
    await insert({ vendor: 'aws', service_provider_sid: foreign.service_provider_sid })
    expect(await find('aws')).toBeUndefined()
    await insert({ vendor: 'aws', service_provider_sid, settings: '{"whose":"provider"}' })
    expect(await find('aws')).toEqual({ settings: { whose: 'provider' }, owner: service_provider_sid })
    await insert({ vendor: 'aws', account_sid, settings: '{"whose":"account"}' })
    expect(await find('aws')).toEqual({ settings: { whose: 'account' }, owner: account_sid })
    await insert({ vendor: 'aws', account_sid, label: 'x', settings: '{"whose":"x"}' })
    expect(await find('aws', { label: 'x' })).toEqual({ settings: { whose: 'x' }, owner: account_sid })
    expect(await find('aws', { account_sid: createSid() })).toBeUndefined()
  })

  it('finds none that is not for speaking', async () => {
    await insert({ vendor: 'deepgram', account_sid: own.account_sid, use_for_tts: 0 })
    expect(await find('deepgram')).toBeUndefined()
  })

  it('notes that a credential is in use, once an hour', async () => {
    const sid = await insert({ vendor: 'openai', account_sid: own.account_sid })
    const lastUsed = async () => (await rows().speech_credentials.find(sid))?.last_used
    await find('openai')
    const first = clock.now()
    await until('the first use to be noted', async () => (await lastUsed()) === first)
    clock.advance(3_599_000)
    await find('openai')
    expect(await lastUsed()).toBe(first)
    clock.advance(1000)
    await find('openai')
    await until('the use after an hour', async () => (await lastUsed()) === first + 3_600_000)
  })

  it('brings a custom voice with the credential it was made under, to those who may use it', async () => {
    const { account_sid } = own
    await insert({ vendor: 'google', account_sid, settings: '{"which":"first"}' })
    const speech_credential_sid = await insert({
      vendor: 'google',
      account_sid,
      settings: '{"which":"second"}',
    })
    const { google_custom_voice_sid } = await rows().google_custom_voices.insert({
      account_sid,
      speech_credential_sid,
      name: 'a',
      model: 'm',
      voice_cloning_key: 'k',
      use_voice_cloning_key: 1,
    })
    const voice = `custom_${google_custom_voice_sid}`
    expect(await find('google', { voice })).toEqual({
      settings: {
        which: 'second',
        custom_voice: {
          model: 'm',
          reported_usage: 'REALTIME',
          voice_cloning_key: 'k',
          use_voice_cloning_key: 1,
        },
      },
      owner: account_sid,
    })
    await insert({ vendor: 'google', account_sid: foreign.account_sid })
    expect(await find('google', { voice, account_sid: foreign.account_sid })).toMatchObject({ settings: {} })
    expect(await find('google', { voice: 'custom_none' })).toMatchObject({ settings: { which: 'first' } })
  })
})
