import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { proxyLines, serversForPhones } from './phone-servers.ts'

let close: (() => void) | undefined
afterEach(() => close?.())

/** Returns the port of a server at this address, in place of a platform that is bound to it. */
async function listen(host: string): Promise<number> {
  const server = createServer((socket) => socket.destroy()).listen(0, host)
  close = () => server.close()
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

const own = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address)

describe('the address for phones', () => {
  it('is one of the network if the platform takes connections there', async () => {
    const port = await listen('0.0.0.0')
    const servers = await serversForPhones({ host: '127.0.0.1', port })
    expect(servers.map(({ host }) => host)).toEqual(own.slice(0, 4))
    const [line = ''] = await proxyLines({ host: '127.0.0.1', port })
    if (own[0] !== undefined) expect(line).toContain(`outbound proxy  sip:${own[0]}:${port} (UDP or TCP)`)
  })

  it('is the loopback only with the sentence that other machines are not served', async () => {
    const port = await listen('127.0.0.1')
    expect(await serversForPhones({ host: '127.0.0.1', port })).toEqual([])
    expect((await proxyLines({ host: '127.0.0.1', port })).join('\n')).toContain(
      'only for phones on this machine: the platform listens on 127.0.0.1 alone',
    )
  })

  it('is that of the platform if it is elsewhere', async () => {
    const server = { host: 'voice.example.com', port: 5060 }
    expect(await serversForPhones(server)).toEqual([server])
  })
})
