import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { systemClock } from '../../lib/clock.ts'
import { connectionLimits } from '../limits.ts'
import { StreamConnection } from './stream-connection.ts'

it.each(['127.0.0.1', '::1'])(
  'a connection is marked as signalling (DSCP CS3) at both ends, on %s',
  async (host) => {
    const accepted = Promise.withResolvers<Socket>()
    const server = createServer((socket) => {
      open(socket, true)
      accepted.resolve(socket)
    })
    server.listen(0, host)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const calling = connect(port, host)
    open(calling, false)
    await once(calling, 'connect')
    const called = await accepted.promise
    expect([calling.getTypeOfService(), called.getTypeOfService()]).toEqual([0x60, 0x60])
    calling.destroy()
    called.destroy()
    server.close()

    function open(socket: Socket, isInbound: boolean): void {
      new StreamConnection({
        socket,
        remote: { transport: 'tcp', address: host, port },
        isInbound,
        limits: connectionLimits,
        clock: systemClock,
        message: () => undefined,
        admits: () => true,
        misbehaved: () => undefined,
        isNeeded: () => false,
        closed: () => undefined,
      })
    }
  },
)
