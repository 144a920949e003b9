import { describe, expect, it } from 'vitest'
import { quickestMs } from '../../../test/support/cpu.ts'
import { AppError } from '../../lib/errors.ts'
import type { HeaderField, SipRequest } from '../../sip/message/message.ts'
import { toMetadata } from '../siprec/metadata.ts'
import { isRecordingSession, recordedParties, updatedParties } from './recorded-parties.ts'
import { toRecordingBody } from '../siprec/recording-body.ts'
import { readXml } from './read-xml.ts'

const line = (label: string): string => `m=audio 4000 RTP/AVP 0\r\na=sendonly\r\na=label:${label}\r\n`
const sdp = `v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\ns=-\r\nt=0 0\r\n${line('96')}${line('97')}`
const asked = [{ name: 'require', value: 'siprec' }]

function invite(headers: readonly HeaderField[], body?: { type: string; content: string }): SipRequest {
  const { type, content } = body ?? { type: 'application/sdp', content: sdp }
  return {
    kind: 'request',
    method: 'INVITE',
    uri: 'sip:recorder@192.0.2.1',
    headers: [...headers, { name: 'content-type', value: type }],
    body: Buffer.from(content),
  }
}

function withMetadata(metadata: string, type = 'application/rs-metadata+xml'): SipRequest {
  const { type: multipart, content } = toRecordingBody({ sdp, metadata, boundary: 'b' })
  return invite(asked, {
    type: multipart,
    content: String(content).replace('application/rs-metadata+xml', type),
  })
}

const stream = (id: string, label: string): string =>
  `<stream stream_id="${id}" session_id="s"><label>${label}</label></stream>`
const assoc = (party: string, sends: string): string =>
  `<participantstreamassoc participant_id="${party}"><send> ${sends} </send></participantstreamassoc>`
const person = (id: string, aor: string): string =>
  `<participant participant_id="${id}"><nameID aor="${aor}"/></participant>`
const whole = (...inner: readonly string[]): string =>
  `<recording xmlns="urn:ietf:params:xml:ns:recording:1">${inner.join('')}</recording>`
const streams = stream('t1', '96') + stream('t2', '97')

const shown = (request: SipRequest): unknown => {
  const { participants, callerLine } = recordedParties(request)
  return [...participants.map((one) => `${one.participant} ${one.uri_user}@${one.uri_host}`), callerLine]
}
const ofTwo = ['caller alice@a.example', 'callee bob@b.example']

describe('who is recorded', () => {
  it('is read of what our own recording client writes', () => {
    const id = (digit: number): string => String(digit).repeat(32)
    const party = { key: 'p', id: id(3), aor: 'sip:alice@a.example', name: 'A & "B"', since: 1 }
    const other = { key: 'o', id: id(4), aor: 'tel:+15550100', name: '', since: 1 }
    const metadata = toMetadata({
      ...{ sessionId: id(1), groupId: id(2), startedAt: 1, recordedSince: 1, recordingId: undefined },
      ...{ call_sid: 'c', party, others: [other] },
      said: { id: id(5), label: '97' },
      heard: { id: id(6), label: '96' },
    })
    expect(shown(withMetadata(metadata))).toEqual(['caller +15550100@', 'callee alice@a.example', 0])
  })

  it.each([
    [
      'by the labels of the streams that they send',
      whole(
        person('p2', 'sip:bob@b.example'),
        person('p1', 'sip:alice@a.example'),
        streams,
        assoc('p2', 't2'),
        assoc('p1', 't1'),
      ),
    ],
    [
      'with the streams in the participants, as drafts had it',
      `<?xml version='1.0'?><!-- x --><r:recording xmlns:r="urn:ietf:params:xml:ns:recording">
        <r:participant id='p1'><r:nameID><r:aor> sip:alice@a.example </r:aor></r:nameID><r:send>t1</r:send></r:participant>
        <r:participant id="p2"><r:nameID aor="sip:bob@b.example"/><r:send><![CDATA[t2]]></r:send></r:participant>
        <r:stream id="t1"><r:label>96</r:label></r:stream><r:stream id="t2"><r:label>97</r:label></r:stream></r:recording>`,
    ],
    [
      'in the order of the document, where no stream says it',
      whole(person('p1', 'sip:alice@a.example'), person('p2', 'sip:bob&#64;b.example')),
    ],
  ])('%s', (_how, metadata) => {
    expect(shown(withMetadata(metadata, 'application/rs-metadata'))).toEqual([...ofTwo, 0])
  })

  it('may be in another order in headers of the call; the caller then has the stream of its name', () => {
    const data =
      '<x:callData xmlns:x="x"><x:fromhdr>"A" &lt;sip:bob@b.example&gt;;tag=1</x:fromhdr><x:tohdr>&lt;sip:alice@a.example&gt;</x:tohdr></x:callData>'
    const people = person('p1', 'sip:alice@a.example') + person('p2', 'sip:bob@b.example')
    const metadata = whole(people, streams, assoc('p1', 't1'), assoc('p2', 't2'), data)
    expect(shown(withMetadata(metadata))).toEqual(['caller bob@b.example', 'callee alice@a.example', 1])
  })

  it('may be one alone', () => {
    const metadata = whole(person('p1', 'sip:alice@a.example'), streams, assoc('p1', 't2'))
    expect(shown(withMetadata(metadata))).toEqual(['caller alice@a.example', 1])
  })

  it('stands in headers of Cisco, in the order of their lines', () => {
    const name = 'x-cisco-recording-participant'
    const values = ['sip:bob@b.example;media-index="1 3"', '<sip:alice@a.example>;media-index="0"']
    const request = invite(values.map((value) => ({ name, value })))
    expect(isRecordingSession(request)).toBe(true)
    expect(shown(request)).toEqual([...ofTwo, 0])
  })

  it('is found in linear time in a header of Cisco with many spaces', () => {
    const value = `<sip:alice@a.example>;media-index=${' '.repeat(8000)}x`
    const request = invite([{ name: 'x-cisco-recording-participant', value }])
    expect(quickestMs(() => recordedParties(request), 20)).toBeLessThan(20)
  })

  it.each([
    ['is not said at all', invite(asked)],
    ['has no address', withMetadata(whole('<participant/>', streams))],
    ['has addresses that are none', withMetadata(whole(person('p1', 'alice')))],
    ['is in no XML', withMetadata('hello')],
    ['is in XML that is cut off', withMetadata(whole(person('p1', 'sip:alice@a.example')).slice(0, -20))],
  ])('and %s: the session has no names, and the reason is known', (_what, request) => {
    expect(recordedParties(request)).toEqual({
      participants: [],
      callerLine: 0,
      unread: expect.objectContaining({ code: 'siprec_unreadable' }),
    })
  })

  it('is read by the names of the drafts of RFC 7865', () => {
    const draft = `<?xml version="1.0"?><recording_metadata xmlns="urn:ietf:params:xml:ns:siprec"><dataMode>complete</dataMode>
      <recording id="urn:uuid:r1"/><session id="urn:uuid:s1" group="urn:uuid:g1"/>
      <participant id="urn:uuid:p1" session="urn:uuid:s1"><aor>sip:alice@a.example;user=phone</aor><send><id>urn:uuid:t1</id></send></participant>
      <participant id="urn:uuid:p2" session="urn:uuid:s1"><aor>sip:bob@b.example</aor><send><id>urn:uuid:t2</id></send></participant>
      <stream id="urn:uuid:t1" session="urn:uuid:s1"><label>2</label><mode>separate</mode></stream>
      <stream id="urn:uuid:t2" session="urn:uuid:s1"><label>1</label></stream></recording_metadata>`
    expect(shown(withMetadata(draft))).toEqual([...ofTwo, 0])
  })

  it('is not looked for in a call', () => {
    expect([isRecordingSession(invite([])), updatedParties(invite([]))]).toEqual([false, undefined])
  })
})

describe('the XML of a recording client', () => {
  const deep = (depth: number): string => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`

  it.each([
    ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ['an entity that XML has not', '<a>&b;</a>'],
    ['an & by itself', '<a b="x & y"/>'],
    ['a character beyond the last', '<a>&#x110000;</a>'],
    ['two roots', '<a/><b/>'],
    ['no root', '<?xml version="1.0"?>'],
    ['an element that is not closed', '<a><b></a>'],
    ['an end without a beginning', '</a>'],
    ['a comment without an end', '<a><!-- x</a>'],
    ['a tag without an end', '<a b="c"'],
    ['an attribute without quotes', '<a b=c/>'],
    ['more depth than it may', deep(40)],
    ['more elements than it may', `<a>${'<b/>'.repeat(2001)}</a>`],
    ['more attributes than it may', `<a ${Array.from({ length: 33 }, (_, at) => `a${at}=""`).join(' ')}/>`],
  ])('is refused with %s', (_what, document) => {
    expect(() => readXml(document)).toThrow(AppError)
  })

  it('is read once, in linear time, however it is made', () => {
    for (const document of [
      `<a ${' '.repeat(60_000)}`,
      `<a b="${'&amp;'.repeat(12_000)}"/>`,
      `<a ${'b="c" '.repeat(10_000)}`,
      '<'.repeat(60_000),
      `<a>${'&'.repeat(60_000)}`,
      `<a${'-'.repeat(60_000)}`,
    ]) {
      const before = performance.now()
      try {
        readXml(document)
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
      }
      expect(performance.now() - before).toBeLessThan(1000)
    }
  })
})
