import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createConnectionLimit } from './connection-limit.ts'

let server: Server
const sockets: Socket[] = []

beforeEach(async () => {
  server = createServer((_request, response) => response.end('ok'))
  // With 170 connections, one address gets ten.
  const proxies = ['127.0.0.8/31', '2001:db8::/32']
  const limit = createConnectionLimit({ maxConnections: 170, trustedProxies: proxies })
  server.on('connection', (socket: Socket) => void limit.admit(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** Requests /health and keeps the connection; resolves with whether there was a response. */
function ask(localAddress: string): Promise<boolean> {
  const { port } = server.address() as AddressInfo
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  sockets.push(socket)
  socket.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
  return new Promise((resolve) => {
    socket.on('error', () => undefined)
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
}

async function answered(localAddress: string, times: number): Promise<number> {
  let count = 0
  for (let time = 0; time < times; time += 1) if (await ask(localAddress)) count += 1
  return count
}

describe('the limit of connections', () => {
  it('gives an address that floods /health a share, and every other its answer', async () => {
    expect(await answered('127.0.0.2', 40)).toBe(10)
    for (let host = 3; host <= 7; host += 1) expect(await answered(`127.0.0.${host}`, 2)).toBe(2)
  })

  it('leaves room for a newcomer while many addresses take all they can', async () => {
    for (let host = 10; host < 60; host += 1) await answered(`127.0.1.${host}`, 11)
    expect(await answered('127.0.0.2', 1)).toBe(1)
  })

  it('is not held against a trusted proxy', async () => {
    expect(await answered('127.0.0.9', 40)).toBe(40)
  })

  it('gives back what is closed', async () => {
    const closing: Promise<unknown>[] = []
    server.on('connection', (socket: Socket) => closing.push(once(socket, 'close')))
    await answered('127.0.0.2', 10)
    for (const socket of sockets.splice(0)) socket.end()
    await Promise.all(closing)
    expect(await answered('127.0.0.2', 10)).toBe(10)
  })
})
