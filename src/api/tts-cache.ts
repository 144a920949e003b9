// The cache of spoken clips, counted and cleared, and speech outside calls, to hear a voice.
import { AppError } from '../lib/errors.ts'
import { boolean, sid, text } from './define/fields.ts'
import { keyHeader, ofCaller } from './define/idempotency.ts'
import { bytes, object, whole } from './define/reply-fields.ts'
import { defineRoute, everyone } from './define/route.ts'
import { randomHex } from '../lib/ids.ts'
import type { Pcm } from '../speech/vendor.ts'
import type { Row } from '../storage/storage.ts'

const sizeReply = {
  status: 200,
  description: 'How many clips are kept.',
  component: 'TtsCacheSize',
  body: object({ size: whole('How many clips.') }),
} as const
const clearedReply = { status: 204, description: 'Removed; what is being played stays.' } as const

/** The entry in the audit log; its `sid` is `*` for all clips, or the account that the clips belonged to. */
const removal = { action: 'delete', resource: 'tts_cache' } as const

const getSize = defineRoute({
  method: 'GET',
  path: '/TtsCache',
  access: ['admin'],
  operationId: 'getTtsCacheSize',
  tag: 'TtsCache',
  summary: 'How many spoken clips the platform keeps.',
  reply: sizeReply,
  handle: async ({ services }) => ({ size: await services.speechCache.size() }),
})

const clear = defineRoute({
  method: 'DELETE',
  path: '/TtsCache',
  access: ['admin'],
  operationId: 'clearTtsCache',
  tag: 'TtsCache',
  summary: 'Removes all spoken clips.',
  reply: clearedReply,
  async handle({ services: { speechCache, storage } }) {
    await speechCache.clear()
    await storage.audit.note({ ...removal, sid: '*', account_sid: null, service_provider_sid: null })
  },
})

const getSizeOfAccount = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/TtsCache',
  access: everyone,
  operationId: 'getTtsCacheSizeOfAccount',
  tag: 'TtsCache',
  summary: 'How many of the kept clips an account has asked for since the platform started.',
  reply: sizeReply,
  handle: async ({ account, services }) => ({ size: await services.speechCache.size(account.account_sid) }),
})

const clearOfAccount = defineRoute({
  method: 'DELETE',
  path: '/Accounts/{AccountSid}/TtsCache',
  access: everyone,
  operationId: 'clearTtsCacheOfAccount',
  tag: 'TtsCache',
  summary: 'Removes the clips that only this account has asked for.',
  reply: clearedReply,
  async handle({ account: { account_sid, service_provider_sid }, services: { speechCache, storage } }) {
    await speechCache.clear(account_sid)
    await storage.audit.note({ ...removal, sid: account_sid, account_sid, service_provider_sid })
  },
})

const synthesize = defineRoute({
  method: 'POST',
  path: '/Accounts/{AccountSid}/TtsCache/Synthesize',
  access: everyone,
  operationId: 'synthesizeForAccount',
  tag: 'TtsCache',
  summary: 'Speaks a text with a speech credential, to hear a voice before it is used.',
  description:
    'With an Idempotency-Key the sound is kept among the clips, and a request that is sent again gets it from there; ' +
    'the vendor is used again only if the clip has been removed meanwhile.',
  body: {
    speech_credential_sid: sid().describe('A credential of the account, or shared by its service provider.'),
    text: text({ min: 1, max: 10_000 }).describe('What to say: plain text or SSML.'),
    language: text({ min: 1, max: 64 }).describe('BCP 47.').example('en-US'),
    voice: text({ min: 1, max: 128 }).describe('As the vendor names it.'),
    engine: text({ max: 64 })
      .optional()
      .describe('Accepted for older clients; the voice determines the engine.'),
    encodingMp3: boolean().optional().describe('Only false is served.'),
  },
  reply: {
    status: 200,
    description: 'The sound: 16-bit samples, little-endian, one channel, at the rate in Sample-Rate.',
    body: bytes('application/octet-stream'),
    mediaType: 'application/octet-stream',
  },
  errors: ['synthesizer_unknown', 'speech_failed', 'account_share'],
  keepsKey: true,
  async handle({ account, body, caller, rows, headers, head, services, whenGone, once }) {
    const { speech_credential_sid, language, voice } = body
    if (body.encodingMp3 === true)
      throw new AppError('bad_request', 'encodingMp3 is not served', {
        cure: 'Leave it out, and take the samples as they are.',
      })
    const speak = async (): Promise<Pcm> => {
      const credential = await rows.speech_credentials.find(speech_credential_sid)
      if (credential === undefined || !isUsableBy(account, credential))
        throw new AppError('bad_request', 'speech_credential_sid names no speech credential of this account')
      const settings = JSON.parse(credential.settings) as Readonly<Record<string, unknown>>
      const { vendor } = credential
      return services.speech.speak({ vendor, settings, text: body.text, language, voice, signal: whenGone() })
    }
    const keep = (clip: string): Promise<Pcm> => services.speechCache.keep(clip, account.account_sid, speak)
    // The key keeps only the name of the clip: sound is too large for the database.
    const keepOnce = async (): Promise<Pcm> => {
      const { clip } = await once(ofCaller(caller.principal), async () => {
        const answer = { clip: randomHex(32) }
        await keep(answer.clip)
        return { answer }
      })
      return keep(clip)
    }
    const { sampleRate, bytes } = await (headers[keyHeader] === undefined ? speak() : keepOnce())
    head.header('sample-rate', String(sampleRate))
    return bytes
  },
})

type Owned = Pick<Row<'speech_credentials'>, 'account_sid' | 'service_provider_sid' | 'use_for_tts'>

function isUsableBy(
  account: Row<'accounts'>,
  { account_sid, service_provider_sid, use_for_tts }: Owned,
): boolean {
  if (use_for_tts !== 1) return false
  return account_sid === null
    ? service_provider_sid === account.service_provider_sid
    : account_sid === account.account_sid
}

export const ttsCacheRoutes = [getSize, clear, getSizeOfAccount, clearOfAccount, synthesize]
