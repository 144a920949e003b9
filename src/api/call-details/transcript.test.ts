// The transcript of a call: its words on one clock, as JSON and as WebVTT.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LiveCall } from '../../calls/calls.ts'
import type { JournalEvent } from '../../calls/journal.ts'
import { createSid } from '../../lib/ids.ts'
import { endedCall } from '../../../test/support/ended-calls.ts'
import { quickestMs } from '../../../test/support/cpu.ts'
import { openTestApi, type TestApi } from '../../../test/support/api.ts'
import type { TestTenant } from '../../../test/support/api-tenants.ts'
import { preferredType } from './preferred-type.ts'
import { toTranscript } from './utterances.ts'
import { toWebVtt } from './web-vtt.ts'

let api: TestApi
beforeAll(async () => {
  api = await openTestApi()
})
afterAll(() => api.close())

type Facts = Readonly<Record<string, unknown>>

/** Returns events that are numbered; each is given its moment, in ms after 1,000,000. */
function journal(...facts: readonly (readonly [number, string, Facts?])[]): readonly JournalEvent[] {
  return facts.map(
    ([at, type, more], index) => ({ seq: index + 1, at: 1_000_000 + at, type, ...more }) as JournalEvent,
  )
}

const started = [0, 'started', { direction: 'inbound' }] as const
const answered = [500, 'status', { call_status: 'in-progress' }] as const
const by = (recogniser: string, channel = 1, vendor = 'deepgram') => ({
  recogniser,
  vendor,
  channel,
  language: 'en-US',
  confidence: 0.9,
})
const said = (at: number, duration_ms: number) => ({ said_at: 1_000_000 + at, duration_ms })
const heard = (at: number, transcript: string, more: Facts) => [at, 'heard', { transcript, ...more }] as const
const ended = (at: number, vendor: string, audio_ms: number) =>
  [at, 'recognition-ended', { recogniser: 'gather', vendor, audio_ms, socket_ms: audio_ms + 100 }] as const

const talk = journal(
  started,
  answered,
  [700, 'recording-started', { recording_url: '/r' }],
  heard(4000, 'Good morning.', { ...by('dial-called', 2), ...said(2000, 900) }),
  heard(4100, 'Hello?', { ...by('dial'), ...said(1500, 300) }),
  ended(9000, 'deepgram', 8000),
  ended(9001, 'deepgram', 1000),
  ended(9002, 'google', 50),
)

const textsOf = (events: readonly JournalEvent[]) =>
  toTranscript(events)?.utterances.map(({ text, speaker, start_ms, end_ms }) => [
    text,
    speaker,
    start_ms,
    end_ms,
  ])

async function endCall(tenant: TestTenant, events: readonly JournalEvent[]): Promise<string> {
  const call = endedCall(tenant, { attempted_at: 1 })
  api.storage.calls.write({ ...call, events }, 'now')
  await api.storage.calls.flush()
  return call.call_sid
}

function transcriptOf(call_sid: string, token = api.own.accountKey, { query = '', accept = '' } = {}) {
  const path = `/Accounts/${api.own.account_sid}/RecentCalls/${call_sid}/transcript${query}`
  return api.request('GET', path, token, accept === '' ? {} : { headers: { accept } })
}

describe('the words of a call', () => {
  it('are in the order in which they began, counted from the answer, with what their recognition took', () => {
    const common = { confidence: 0.9, language: 'en-US', vendor: 'deepgram' }
    expect(toTranscript(talk)).toEqual({
      origin_at: 1_000_500,
      recording_start_ms: 200,
      is_truncated: false,
      utterances: [
        {
          ...common,
          speaker: 'caller',
          channel: 1,
          text: 'Hello?',
          start_ms: 1000,
          end_ms: 1300,
          recogniser: 'dial',
        },
        {
          ...common,
          speaker: 'called',
          channel: 2,
          text: 'Good morning.',
          start_ms: 1500,
          end_ms: 2400,
          recogniser: 'dial-called',
        },
      ],
      usage: [
        { vendor: 'deepgram', recognitions: 2, audio_ms: 9000, socket_ms: 9200 },
        { vendor: 'google', recognitions: 1, audio_ms: 50, socket_ms: 150 },
      ],
    })
  })

  it('are those of the called party on channel 1 of an outbound call', () => {
    const outbound = [0, 'started', { direction: 'outbound' }] as const
    const events = journal(outbound, answered, heard(900, 'Yes?', by('gather')))
    expect(textsOf(events)).toEqual([['Yes?', 'called', 400, 400]])
  })

  it('have the time at which they came if the vendor gives none', () => {
    expect(textsOf(journal(started, answered, heard(3500, 'one', by('gather'))))).toEqual([
      ['one', 'caller', 3000, 3000],
    ])
  })

  it('count from the beginning of a call that is not answered, and below 0 before the answer', () => {
    const early = heard(400, 'one', by('gather'))
    expect(textsOf(journal(started, early))).toEqual([['one', 'caller', 400, 400]])
    expect(textsOf(journal(started, early, answered))).toEqual([['one', 'caller', -100, -100]])
  })

  it('are not there if they were hidden', () => {
    const events = journal(started, answered, heard(900, '', { ...by('gather'), ...said(600, 200) }))
    expect(toTranscript(events)).toMatchObject({ utterances: [] })
  })

  it('are there once if two recognisers hear a party, and twice if it repeats them', () => {
    const events = journal(
      started,
      answered,
      heard(2000, 'Table for two.', { ...by('gather'), ...said(1010, 900) }),
      heard(2050, 'A table for two.', { ...by('background'), ...said(1000, 1000) }),
      heard(2060, 'Sir?', { ...by('dial-called', 2), ...said(1000, 1000) }),
      heard(4000, 'Table for two!', { ...by('background'), ...said(3000, 900) }),
      heard(6000, 'At eight.', { ...by('gather'), ...said(5000, 900) }),
    )
    expect(textsOf(events)?.map(([text]) => text)).toEqual([
      'A table for two.',
      'Sir?',
      'Table for two!',
      'At eight.',
    ])
  })

  it('may be missing where the journal is full', () => {
    const events = journal(started, answered, heard(900, 'a', by('gather')), [
      901,
      'truncated',
      { of: 'words' },
    ])
    expect(toTranscript(events)).toMatchObject({ is_truncated: true })
  })

  it('of a journal as long as they become are found in a moment', () => {
    const events = journal(
      started,
      answered,
      ...Array.from({ length: 3000 }, (_, index) =>
        heard(1000 * index, `${index}`, {
          ...by(index % 2 === 0 ? 'gather' : 'background'),
          ...said(1000 * index, 400),
        }),
      ),
    )
    expect(toTranscript(events)?.utterances).toHaveLength(3000)
    // It runs in the main thread.
    expect(quickestMs(() => toTranscript(events), 50)).toBeLessThan(200)
  })
})

describe('a file of subtitles', () => {
  it('has one cue for each utterance', () => {
    expect(toWebVtt(toTranscript(talk)?.utterances ?? [])).toBe(
      [
        'WEBVTT\n',
        '1\n00:00:01.000 --> 00:00:01.300\n<v caller>Hello?\n',
        '2\n00:00:01.500 --> 00:00:02.400\n<v called>Good morning.\n',
      ].join('\n'),
    )
    expect(toWebVtt([])).toBe('WEBVTT\n')
  })

  it('has no time below 0, and shows words without times for two seconds', () => {
    const at = (start_ms: number, end_ms = start_ms) => ({
      speaker: 'caller' as const,
      text: 'x',
      start_ms,
      end_ms,
      channel: 1,
      confidence: 0,
      language: 'en',
      vendor: 'v',
      recogniser: 'gather',
    })
    const times = toWebVtt([at(-900, -100), at(-900, 100), at(36_061_001), at(360_000_000)]).match(
      /.* --> .*/g,
    )
    expect(times).toEqual([
      '00:00:00.000 --> 00:00:02.000',
      '00:00:00.000 --> 00:00:00.100',
      '10:01:01.001 --> 10:01:03.001',
      '100:00:00.000 --> 100:00:02.000',
    ])
  })

  it.each([
    ['a --> b', 'a --&gt; b'],
    ['<v called>no</v> & &lt;', '&lt;v called&gt;no&lt;/v&gt; &amp; &amp;lt;'],
    ['one\n\n2\n00:00:00.000 --> 09:00:00.000\rtwo\0', 'one 2 00:00:00.000 --&gt; 09:00:00.000 two'],
    ['NOTE\r\n\r\nx', 'NOTE x'],
  ])('is not broken by what is said: %j', (words, shown) => {
    const events = journal(started, answered, heard(1500, words, by('gather')))
    expect(toWebVtt(toTranscript(events)?.utterances ?? [])).toBe(
      `WEBVTT\n\n1\n00:00:01.000 --> 00:00:03.000\n<v caller>${shown}\n`,
    )
  })
})

describe('the media type that a client prefers', () => {
  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['text/vtt', 'vtt'],
    ['Text/VTT;charset=utf-8', 'vtt'],
    ['text/*', 'vtt'],
    ['text/vtt, application/json', 'json'],
    ['application/json;q=0.5, text/vtt', 'vtt'],
    ['text/vtt;q=0.1, */*', 'json'],
    ['text/vtt;q=0, */*;q=0', 'json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
    [';;q=,,', 'json'],
  ])('%s: %s', (accept, preferred) => {
    expect(preferredType(accept, 'text/vtt', 'application/json')).toContain(preferred)
  })
})

describe('GET /Accounts/{sid}/RecentCalls/{call_sid}/transcript', () => {
  it('is served of an ended call to each caller that may see it', async () => {
    const call_sid = await endCall(api.own, talk)
    const { account_sid, service_provider_sid } = api.own
    const viewer = await api.logIn({ account_sid, service_provider_sid, permissions: ['VIEW_ONLY'] })
    for (const token of [api.own.accountKey, api.own.providerKey, api.adminKey, viewer]) {
      const { status, headers, body } = await transcriptOf(call_sid, token)
      expect([status, headers['content-type'], headers['vary']]).toEqual([
        200,
        'application/json; charset=utf-8',
        'accept',
      ])
      expect(body).toEqual({ call_sid, ...toTranscript(talk) })
    }
    expect((await transcriptOf(call_sid, api.sibling.accountKey)).status).toBe(403)
    expect((await transcriptOf(call_sid, api.foreign.providerKey)).status).toBe(403)
  })

  it('is served of a live call', async () => {
    const { account_sid, service_provider_sid } = api.own
    const call_sid = createSid()
    api.calls.push({ account_sid, service_provider_sid, call_sid, call_id: 'live/words' } as LiveCall)
    api.journals.set(call_sid, talk)
    expect((await transcriptOf(call_sid)).body).toMatchObject({ utterances: [{ text: 'Hello?' }, {}] })
  })

  it('is a file of subtitles if the query or the client says so', async () => {
    const call_sid = await endCall(api.own, talk)
    for (const how of [
      { query: '?format=vtt' },
      { query: '?format=VTT', accept: 'application/json' },
      { accept: 'text/vtt' },
    ]) {
      const { status, headers, text } = await transcriptOf(call_sid, api.own.accountKey, how)
      expect([status, headers['content-type']]).toEqual([200, 'text/vtt; charset=utf-8'])
      expect(text).toMatch(/^WEBVTT\n\n1\n00:00:01.000 --> /)
    }
    const json = await transcriptOf(call_sid, api.own.accountKey, {
      query: '?format=json',
      accept: 'text/vtt',
    })
    expect(json.body).toMatchObject({ call_sid })
    expect((await transcriptOf(call_sid, api.own.accountKey, { query: '?format=srt' })).status).toBe(400)
  })

  it('is refused with a code of its own for a call that no recogniser has heard', async () => {
    const call_sid = await endCall(api.own, journal(started, answered))
    for (const accept of ['application/json', 'text/vtt']) {
      const { status, body } = await transcriptOf(call_sid, api.own.accountKey, { accept })
      expect([status, body]).toEqual([
        404,
        expect.objectContaining({ code: 'no_transcript', msg: 'no recogniser has heard this call' }),
      ])
      expect((body as { cure: string }).cure).toContain('transcribe')
    }
  })

  it('is not there for an unknown call, and not for one of another account', async () => {
    for (const call_sid of [createSid(), await endCall(api.sibling, talk)])
      expect(await transcriptOf(call_sid)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })
})
