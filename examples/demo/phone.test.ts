// The demo's phone behind a proxy that stays in the call.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { responseTo } from '../../src/sip/message/build.ts'
import { headerOf } from '../../src/sip/message/message.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { serializeMessage } from '../../src/sip/message/serialize-message.ts'
import { placeCall } from './phone.ts'

const sdp = 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n'

it('sends ACK and BYE by way of the proxy that has recorded itself', async () => {
  const edge = createSocket('udp4')
  edge.bind(0, '127.0.0.1')
  await once(edge, 'listening')
  const { port } = edge.address()
  const route = `<sip:127.0.0.1:${port};lr>`
  const seen: string[] = []
  const hasBye = Promise.withResolvers<void>()
  edge.on('message', (bytes, from) => {
    const request = parseMessage(bytes)
    if (request.kind !== 'request') return
    seen.push(`${request.method} ${request.uri} ${headerOf(request, 'route') ?? ''}`)
    if (request.method === 'BYE') hasBye.resolve()
    if (request.method !== 'INVITE') return
    const headers = [
      { name: 'record-route', value: route },
      { name: 'contact', value: '<sip:192.0.2.1:5060>' },
    ]
    const body = { type: 'application/sdp', content: sdp }
    const answer = responseTo(request, { status: 200, headers, body }, { toTag: 'node' })
    edge.send(serializeMessage(answer), from.port, from.address)
  })
  try {
    const answered = Promise.withResolvers<void>()
    const server = { host: '127.0.0.1', port }
    const options = { server, realm: 'a.test', username: 'ann', password: 'x' }
    const call = await placeCall(options, 'sip:bob@a.test', { onAnswer: answered.resolve })
    await answered.promise
    await call.close()
    await hasBye.promise
    expect(seen).toEqual([
      expect.stringMatching(/^INVITE sip:bob@a\.test $/),
      `ACK sip:192.0.2.1:5060 ${route}`,
      `BYE sip:192.0.2.1:5060 ${route}`,
    ])
  } finally {
    edge.close()
  }
})
