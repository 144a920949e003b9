import { describe, expect, it } from 'vitest'
import { joinSdp, splitSdp } from './recording-sdp.ts'

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
