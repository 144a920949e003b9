import { createServer as createNet } from 'node:net'
import { createSecureServer } from 'node:http2'
import { afterEach, describe, expect, it } from 'vitest'
import { createAuthority } from '../../test/support/certificates.ts'
import { systemClock } from '../lib/clock.ts'
import { createNames } from '../network/create-names.ts'
import { createGrpc } from './create-grpc.ts'
import type { SocketRequest } from './sockets.ts'

const { lookup } = createNames({ clock: systemClock })
const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

function open(url: string, more: Partial<SocketRequest> = {}, allow = ['127.0.0.0/8', '::1/128']) {
  return createGrpc({ allow, resolve: lookup, clock: systemClock }).open({
    url,
    headers: {},
    protocols: [],
    subject: 'the vendor',
    handshakeMs: 3000,
    maxRedirects: 0,
    maxMessageBytes: 1000,
    heard: () => undefined,
    closed: () => undefined,
    ...more,
  })
}

async function listen(server: ReturnType<typeof createNet>): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => server.close())
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

describe('a gRPC call', () => {
  it.each(['http://127.0.0.1:1/a', 'http://localhost:1/a', 'http://[::1]:1/a'])(
    'goes to no address that may not be reached: %s',
    async (url) => {
      await expect(open(url, {}, [])).rejects.toMatchObject({ code: 'hook_refused_address' })
    },
  )

  it('fails when nothing listens', async () => {
    await expect(open('http://127.0.0.1:1/a')).rejects.toMatchObject({ code: 'hook_unreachable' })
  })

  it('trusts no certificate without an authority', async () => {
    const authority = createAuthority()
    cleanUps.push(() => authority.remove())
    const { key, certificates: cert } = authority.issue({ names: 'IP:127.0.0.1' })
    const port = await listen(createSecureServer({ key, cert }))
    await expect(open(`https://127.0.0.1:${port}/a`)).rejects.toMatchObject({
      code: 'hook_unreachable',
      message: 'the vendor has a certificate that is not trusted',
    })
  })

  // As a TLS server does that sends no handshake.
  it('fails when the other side is silent, and when its signal aborts', async () => {
    const sockets: { destroy(): void }[] = []
    const port = await listen(createNet((socket) => sockets.push(socket)))
    cleanUps.push(() => sockets.forEach((socket) => socket.destroy()))
    const leaving = new AbortController()
    const opening = open(`https://127.0.0.1:${port}/a`, { signal: leaving.signal })
    leaving.abort(new Error('gone'))
    await expect(opening).rejects.toThrow('gone')
    await expect(open(`https://127.0.0.1:${port}/a`, { handshakeMs: 100 })).rejects.toMatchObject({
      code: 'hook_timeout',
    })
  })
})
