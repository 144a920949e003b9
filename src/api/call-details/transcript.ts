// The transcript of a call: its words as JSON or as subtitles.
import type { JournalEvent } from '../../calls/journal.ts'
import { AppError } from '../../lib/errors.ts'
import type { WireOf } from '../define/field.ts'
import { boolean, choice } from '../define/fields.ts'
import { list, number, object, whole, word } from '../define/reply-fields.ts'
import { defineRoute, everyone } from '../define/route.ts'
import { journalOf } from './journal.ts'
import { preferredType } from './preferred-type.ts'
import { toTranscript } from './utterances.ts'
import { toWebVtt } from './web-vtt.ts'

const utterance = object({
  speaker: choice(['caller', 'called']).describe(
    'The side that spoke. Channel 1 is the caller of an inbound call, and the called party of an outbound one; channel 2 is the other side.',
  ),
  channel: whole('1: the party of this call; 2: the one that it talks with by `dial`.'),
  text: word('The words.'),
  start_ms: whole(
    'When it began, in milliseconds since the answer of the call; negative before it. If the vendor gives no times, when the words came.',
  ),
  end_ms: whole('When it ended. The same as `start_ms` if the vendor gives no times.'),
  confidence: number('From 0 to 1; 0 from vendors that have none.'),
  language: word('As the vendor names it.'),
  vendor: word('The vendor that recognised it.'),
  recogniser: word(
    'For what it was recognised: `gather`, `transcribe`, `background` (`config.transcribe`), or `dial` and `dial-called`, the two sides of `dial.transcribe`.',
  ),
})

const usage = object({
  vendor: word('The vendor.'),
  recognitions: whole('How often it was used.'),
  audio_ms: whole('The audio that it was sent, in milliseconds.'),
  socket_ms: whole('The time for which connections to it were open, in milliseconds.'),
})

const transcript = object({
  call_sid: word('The call.'),
  origin_at: whole(
    'The moment of 0 ms, in epoch milliseconds: the answer of the call, or its beginning while it is not answered.',
  ),
  recording_start_ms: whole(
    'When its recording begins: what is said at `start_ms` is at `start_ms - recording_start_ms` of a recording that was not stopped. Left out if it has none.',
  ).optional(),
  is_truncated: boolean().describe('Whether the journal had no more room, so that words may be missing.'),
  utterances: list(utterance).describe(
    'In the order in which they began. Words that were said while keys are hidden are left out, and what the platform says.',
  ),
  usage: list(usage).describe('What has ended of the recognition, for each vendor.'),
})

const types = { json: 'application/json', vtt: 'text/vtt' } as const

export const getTranscript = defineRoute({
  method: 'GET',
  path: '/Accounts/{AccountSid}/RecentCalls/{CallSid}/transcript',
  parameters: { CallSid: 'The `call_sid` of the call.' },
  access: everyone,
  operationId: 'getCallTranscript',
  tag: 'RecentCalls',
  summary: 'The words of one call, live or ended, as JSON or as WebVTT.',
  description:
    'The words that `gather`, `transcribe`, `config.transcribe` and `dial.transcribe` have had recognised. With `format=vtt`, or with a header `Accept` that prefers `text/vtt`, the response is a file of subtitles; words without times are shown for two seconds there. If two recognisers heard the same words, they are there once. The words of two parties that talk by `dial` are in the transcript of the call that dials.',
  query: {
    format: choice(['json', 'vtt']).optional().describe('Overrides the header `Accept`.'),
  },
  reply: {
    status: 200,
    description: 'The words; none if a recogniser listened and heard none.',
    component: 'CallTranscript',
    body: transcript,
    mediaType: types.json,
    otherMediaTypes: [types.vtt],
  },
  errors: ['not_found', 'no_transcript'],
  async handle({ account: { account_sid }, params, query, headers, head, caller, services }) {
    const { CallSid: call_sid } = params
    const events = await journalOf({ account_sid, call_sid }, { caller, services })
    // Only this program writes journals, so their events are not checked again.
    const found = toTranscript(events as unknown as readonly JournalEvent[])
    if (found === undefined) throw new AppError('no_transcript', 'no recogniser has heard this call')
    head.header('vary', 'accept')
    const type =
      query.format == null ? preferredType(headers['accept'], types.vtt, types.json) : types[query.format]
    if (type === types.vtt) {
      head.header('content-type', `${types.vtt}; charset=utf-8`)
      return toWebVtt(found.utterances)
    }
    const answer: WireOf<typeof transcript> = { call_sid, ...found }
    return JSON.stringify(answer)
  },
})
