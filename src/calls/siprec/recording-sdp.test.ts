import { describe, expect, it } from 'vitest'
import { isSending, isSound, joinSdp, labelOf, onlySent, refusedLine, splitSdp } from './recording-sdp.ts'

const line = (port: number): string =>
  `v=0\r\no=- 17 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\na=sendrecv\r\n`

describe('the SDP of a recording', () => {
  it('has the line of each stream, its direction and its label, below one head with a version of its own', () => {
    const parts = [
      { sdp: line(4000), label: '1' },
      { sdp: line(4002), label: '2' },
    ]
    expect(joinSdp(parts, { direction: 'sendonly', version: 3 })).toBe(
      [
        'v=0',
        'o=- 17 3 IN IP4 192.0.2.1',
        's=-',
        'c=IN IP4 192.0.2.1',
        't=0 0',
        'm=audio 4000 RTP/AVP 0',
        'a=rtpmap:0 PCMU/8000',
        'a=sendonly',
        'a=label:1',
        'm=audio 4002 RTP/AVP 0',
        'a=rtpmap:0 PCMU/8000',
        'a=sendonly',
        'a=label:2',
        '',
      ].join('\r\n'),
    )
  })

  it('comes apart into one SDP for each line, with the head above it', () => {
    const [first, second] = splitSdp(`${line(4000)}m=audio 4002 RTP/AVP 8\r\na=recvonly\r\n`)
    expect(first).toBe(line(4000))
    expect(second).toBe(`${line(0).split('m=')[0]}m=audio 4002 RTP/AVP 8\r\na=recvonly\r\n`)
    expect(splitSdp('v=0\r\n')).toEqual([])
  })
})

describe('the line of a recording client', () => {
  const part = (direction: string, head = ''): string =>
    `v=0\r\n${head}m=audio 4000 RTP/AVP 0\r\n${direction}a=label:96\r\n`

  it.each([
    ['a=sendonly\r\n', '', 'sendonly'],
    ['a=sendrecv\r\n', '', 'sendonly'],
    ['', '', 'sendonly'],
    ['a=recvonly\r\n', '', 'inactive'],
    ['a=inactive\r\n', '', 'inactive'],
    ['', 'a=inactive\r\n', 'inactive'],
    ['a=sendonly\r\n', 'a=inactive\r\n', 'sendonly'],
  ])('with %j below %j is taken for one that is %s', (direction, head, expected) => {
    const text = part(direction, head)
    expect(onlySent(text).match(/^a=(?:send|recv|inact)\w+/gm)).toEqual([`a=${expected}`])
    expect(isSending(text)).toBe(expected === 'sendonly')
  })

  it('that is not taken is answered with port 0, and has its label', () => {
    const video = 'v=0\r\na=label:no\r\nm=video 4000/2 RTP/AVP 31 32\r\na=label:9\r\n'
    expect([refusedLine(video), labelOf(video), isSound(video)]).toEqual([
      'm=video 0 RTP/AVP 31 32\r\n',
      '9',
      false,
    ])
    expect([isSound(part('')), isSound('m=audio 0 RTP/AVP 0')]).toEqual([true, false])
  })

  it('stands below the head of the first one that is taken, with a direction of its own', () => {
    const parts = [
      { sdp: 'm=video 0 RTP/AVP 31\r\n', label: '9' },
      { sdp: line(4000), label: undefined },
    ]
    expect(joinSdp(parts, { version: 1 })).toBe(
      `${line(0).split('m=')[0]}m=video 0 RTP/AVP 31\r\na=label:9\r\nm=${line(4000).split('m=')[1]}`,
    )
  })
})
