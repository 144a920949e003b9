import { describe, expect, it } from 'vitest'
import { allNamed, parseXml, type XmlElement } from '../../../test/support/xml.ts'
import { toMetadata, type RecordedCall } from './metadata.ts'

const id = (digit: number): string => String(digit).repeat(32)
const at = (time: string): number => Date.parse(`2026-11-22T${time}:00.000Z`)
const call: RecordedCall = {
  sessionId: id(1),
  groupId: id(2),
  startedAt: at('18:00'),
  recordedSince: at('18:02'),
  party: { key: 'p', id: id(3), aor: 'sip:alice@example.com', name: 'Alice', since: at('18:00') },
  others: [{ key: 'o', id: id(4), aor: 'sip:+15550100@example.com', name: '', since: at('18:01') }],
  said: { id: id(5), label: '1' },
  heard: { id: id(6), label: '2' },
  recordingId: 'r-1',
  call_sid: 'c-1',
}
const read = (more: Partial<RecordedCall> = {}): XmlElement => parseXml(toMetadata({ ...call, ...more }))
const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')

describe('the metadata of a recording', () => {
  it('is the complete document of RFC 7865 with the parts in the order of its schema', () => {
    const document = read()
    expect([document.name, document.attributes['xmlns']]).toEqual([
      'recording',
      'urn:ietf:params:xml:ns:recording:1',
    ])
    expect(document.children.map(({ name }) => name)).toEqual([
      'datamode',
      'group',
      'session',
      'participant',
      'participant',
      'stream',
      'stream',
      'sessionrecordingassoc',
      'participantsessionassoc',
      'participantsessionassoc',
      'participantstreamassoc',
      'participantstreamassoc',
    ])
    expect(allNamed(document, 'datamode')[0]?.text).toBe('complete')
    expect(allNamed(document, 'start-time')[0]?.text).toBe('2026-11-22T18:00:00.000Z')
  })

  it('says since when the call, its recording by this server and each participant are what they are', () => {
    const since = (name: string) =>
      allNamed(read(), name).map((found) => allNamed(found, 'associate-time')[0]?.text.slice(11, 16))
    expect([since('group'), since('sessionrecordingassoc')]).toEqual([['18:00'], ['18:02']])
    expect(since('participantsessionassoc')).toEqual(['18:00', '18:01'])
    expect(since('participantstreamassoc')).toEqual(['18:00', '18:01'])
  })

  it('says who sends and who receives each stream, by ids that are the base64 form of a UUID', () => {
    const document = read()
    const streams = allNamed(document, 'participantstreamassoc').map(({ attributes, children }) => [
      attributes['participant_id'],
      ...children.slice(0, 2).map(({ name, text }) => `${name} ${text}`),
    ])
    expect(streams).toEqual([
      [base64(id(3)), `send ${base64(id(5))}`, `recv ${base64(id(6))}`],
      [base64(id(4)), `send ${base64(id(6))}`, `recv ${base64(id(5))}`],
    ])
    for (const { attributes } of allNamed(document, 'stream'))
      expect(attributes['session_id']).toBe(base64(id(1)))
  })

  it.each([
    ['markup', '</name><x a="1">&amp;\'', '</name><x a="1">&amp;\''],
    ['line breaks and control characters', 'a\r\nb\u0000c\u0085d', 'a  b c d'],
    ['half a character', 'a\ud800b', 'a\ufffdb'],
  ])('takes %s in a name for text', (_what, name, expected) => {
    const document = read({ party: { ...call.party, name, aor: `sip:${name}@x` }, recordingId: name })
    expect(allNamed(document, 'name').map(({ text }) => text)).toEqual([expected])
    expect(allNamed(document, 'sw:recording_id').map(({ text }) => text)).toEqual([expected])
    expect(allNamed(document, 'nameID')[0]?.attributes['aor']).toBe(`sip:${expected}@x`)
  })
})
