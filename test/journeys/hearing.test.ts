// Speech that a real phone sends, recognised by vendors' stand-ins that know words by their sound: gather, transcribe,
// holds, and what follows a failure of the vendor.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createResampler } from '../../src/lib/audio/resampler.ts'
import { startApplication, type Application } from '../support/application.ts'
import type { Audio } from '../support/audio.ts'
import { startBaresip, type Baresip } from '../support/baresip.ts'
import {
  journalOf,
  provision,
  recentCalls,
  sharedPlatform,
  type JournalEntry,
  type Platform,
  type Tenant,
} from '../support/platform-process.ts'
import { isMissing } from '../support/tools.ts'
import { startCustom } from '../support/vendors/custom.ts'
import { startDeepgram } from '../support/vendors/deepgram.ts'
import type { Front } from '../support/vendors/front.ts'
import { speechClips } from '../support/vendors/speech-clips.ts'
import { until } from '../support/wait.ts'

const clips = speechClips([
  'I would like to book a table for two.',
  'Please cancel my reservation for tomorrow.',
])
const [table, cancel] = clips as [(typeof clips)[0], (typeof clips)[0]]

/**
 * Returns how many of the words were heard, in their order, from 0 to 1. A busy machine delays packets of the phone, and
 * a word with a gap is no longer the clip's.
 */
function shareOf(said: string, heard: string | undefined): number {
  const words = said.toLowerCase().match(/\w+/g) ?? []
  const left: string[] = (heard ?? '').toLowerCase().match(/\w+/g) ?? []
  const found = words.filter((word) => {
    const at = left.indexOf(word)
    if (at !== -1) left.splice(0, at + 1)
    return at !== -1
  })
  return found.length / words.length
}

const most = 0.7

interface Transcript {
  readonly utterances: readonly {
    readonly text: string
    readonly start_ms: number
    readonly end_ms: number
  }[]
  readonly usage: readonly { readonly audio_ms: number }[]
}

/** Returns a sound that begins after some time, and is followed by silence. */
function sounding(
  parts: readonly { readonly audio: Audio; readonly atMs: number }[],
  lengthMs: number,
): Audio {
  const sampleRate = 8000
  const samples = new Float64Array((lengthMs * sampleRate) / 1000)
  for (const { audio, atMs } of parts) {
    const said = createResampler(audio.sampleRate, sampleRate).push(Float32Array.from(audio.samples))
    samples.set(said, (atMs * sampleRate) / 1000)
  }
  return { sampleRate, samples }
}

describe.skipIf(isMissing('baresip'))('hearing', () => {
  let application: Application
  let platform: Platform
  let tenant: Tenant
  let custom: Front
  let deepgram: Front

  beforeAll(async () => {
    application = await startApplication()
    application.on('/status', { status: 200 })
    platform = await sharedPlatform()
    tenant = await provision(platform.api, { application })
    custom = await startCustom({ clips })
    deepgram = await startDeepgram({ clips })
    const path = `/Accounts/${tenant.account_sid}/SpeechCredentials`
    const uses = { use_for_stt: 1, use_for_tts: 0 }
    await platform.api.must('POST', path, {
      vendor: 'custom:mine',
      auth_token: 'custom-token',
      custom_stt_url: custom.url,
      ...uses,
    })
    await platform.api.must('POST', path, {
      vendor: 'deepgram',
      api_key: 'deepgram-key',
      deepgram_stt_uri: deepgram.host,
      ...uses,
    })
  })
  afterAll(async () => {
    await application?.close()
    await custom?.close()
    await deepgram?.close()
  })

  async function calling(verbs: readonly object[], says: Audio, during: (phone: Baresip) => Promise<void>) {
    application.on('/call', { json: [...verbs] })
    const phone = await startBaresip({ ...tenant, proxy: platform.sip, codecs: 'PCMU', says })
    try {
      expect(await phone.registered()).toMatchObject({ ok: true })
      await phone.dial(`sip:${tenant.target}`)
      await during(phone)
    } finally {
      await phone.stop()
    }
    const [record] = await recentCalls(platform.api, tenant.account_sid, 1)
    return await journalOf(platform.api, tenant.account_sid, record?.call_sid ?? '')
  }

  const transcriptOf = (journal: readonly JournalEntry[]): Promise<Transcript> => {
    const call_sid = String(journal[0]?.['call_sid'])
    return platform.api.must('GET', `/Accounts/${tenant.account_sid}/RecentCalls/${call_sid}/transcript`)
  }

  const breaches = (): readonly string[] => [...custom.breaches, ...deepgram.breaches]
  const wordsAt = (path: string) =>
    application.to(path).map(({ body }) => {
      const { speech } = body as { speech?: { alternatives: { transcript: string }[]; is_final: boolean } }
      return speech?.is_final === true ? speech.alternatives[0]?.transcript : undefined
    })

  it.each(['custom:mine', 'deepgram'])(
    'gather sends what the caller says to %s, and its answer to the action hook',
    async (vendor) => {
      const path = `/said-${vendor.replace(':', '-')}`
      application.on(path, { json: [{ verb: 'hangup' }] })
      const gather = {
        verb: 'gather',
        input: ['speech'],
        actionHook: path,
        timeout: 20,
        recognizer: { vendor, language: 'en-US' },
      }
      const says = sounding([{ audio: table.audio, atMs: 1500 }], 20_000)
      const journal = await calling([gather], says, async () => {
        await until('the action hook', () => application.to(path).length > 0)
      })
      expect(wordsAt(path)).toHaveLength(1)
      expect(shareOf(table.text, wordsAt(path)[0])).toBeGreaterThan(most)
      expect(journal).toContainEqual(expect.objectContaining({ type: 'recognition-started', vendor }))
      expect(journal).toContainEqual(expect.objectContaining({ type: 'heard', vendor, channel: 1 }))
      expect(breaches()).toEqual([])
      const { utterances } = await transcriptOf(journal)
      const [said] = utterances
      expect(shareOf(table.text, said?.text)).toBeGreaterThan(most)
      const { start_ms, end_ms } = said ?? { start_ms: 0, end_ms: 0 }
      expect(start_ms).toBeGreaterThan(1000)
      // The other one gives no times.
      if (vendor === 'deepgram') expect(end_ms - start_ms).toBeGreaterThan(500)
    },
  )

  it('loses no word when the connection to the vendor is cut in mid-sentence', async () => {
    custom.fail({ cutAfterWords: 3 })
    application.on('/after-cut', { json: [{ verb: 'hangup' }] })
    const gather = {
      verb: 'gather',
      input: ['speech'],
      actionHook: '/after-cut',
      timeout: 20,
      recognizer: { vendor: 'custom:mine', language: 'en-US' },
    }
    const says = sounding([{ audio: table.audio, atMs: 1500 }], 20_000)
    const journal = await calling([gather], says, async () => {
      await until('the action hook', () => application.to('/after-cut').length > 0)
    })
    expect(shareOf(table.text, wordsAt('/after-cut')[0])).toBeGreaterThan(most)
    expect(journal.filter(({ type }) => type === 'recognition-reconnecting')).toHaveLength(1)
  })

  it('transcribe reports each sentence, while verbs of config go on', async () => {
    application.on('/transcript', { status: 200 })
    const transcribe = {
      enable: true,
      transcriptionHook: '/transcript',
      recognizer: { vendor: 'custom:mine', language: 'en-US' },
    }
    const says = sounding(
      [
        { audio: table.audio, atMs: 1500 },
        { audio: cancel.audio, atMs: 6500 },
      ],
      20_000,
    )
    const verbs = [
      { verb: 'config', transcribe },
      { verb: 'pause', length: 12 },
    ]
    const journal = await calling(verbs, says, async () => {
      await until('two sentences', () => application.to('/transcript').length > 1)
    })
    const [first, second] = wordsAt('/transcript')
    expect(shareOf(table.text, first)).toBeGreaterThan(most)
    expect(shareOf(cancel.text, second)).toBeGreaterThan(most)
    expect(journal).toContainEqual(expect.objectContaining({ type: 'recognition-ended', by: 'closed' }))
    const { utterances, usage } = await transcriptOf(journal)
    expect(utterances.map(({ text }) => text)).toEqual([first, second])
    const [tableAt = 0, cancelAt = 0] = utterances.map(({ start_ms }) => start_ms)
    // The phone begins to speak when it is answered.
    expect(tableAt).toBeGreaterThan(1000)
    expect(Math.abs(cancelAt - tableAt - 5000)).toBeLessThan(2000)
    expect(usage).toEqual([expect.objectContaining({ vendor: 'custom:mine', recognitions: 1 })])
    expect(usage[0]?.audio_ms).toBeGreaterThan(8000)
  })
})
