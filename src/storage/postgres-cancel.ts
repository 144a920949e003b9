// Ends the statement that a connection is running once nobody waits for its answer any more, by the cancel request of the
// protocol. It names the connection by a secret of the connection itself, so that it never meets anybody else's, be it by
// way of a proxy or of a server that has taken over meanwhile.
// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Connection } from 'pg'
import type { PoolClient } from 'pg'
import type { Asker } from '../lib/asker.ts'
import type { Clock } from '../lib/clock.ts'

// What ends by itself within a moment is not worth a connection to the server.
const graceMs = 50
const timeoutMs = 5000

export interface StatementWatch {
  /**
   * To be called when the statement has ended. A promise when the server was asked: until it resolves the request could
   * meet the next statement of the connection, and false says that it still can.
   */
  end(): Promise<boolean> | undefined
}

/** To be called before the statement is sent. */
export function watchStatement(client: PoolClient, asker: Asker, clock: Clock): StatementWatch {
  let calledOff: Promise<boolean> | undefined
  let end = (): void => asker.offGone(leave)
  const leave = (): void => {
    const timer = clock.after(graceMs, () => {
      calledOff = requestCancel(client)
    })
    end = () => timer.cancel()
  }
  asker.onGone(leave)
  return {
    end() {
      end()
      return calledOff
    },
  }
}

/** What the driver keeps to itself: what the server has said of a connection, and the words for a cancel request. */
interface ServerConnection extends Pick<PoolClient, 'host' | 'port' | 'ssl'> {
  readonly processID: number
  readonly secretKey: number
  readonly sslNegotiation: 'postgres' | 'direct'
}

interface CancelConnection extends EventEmitter {
  readonly stream: Socket
  connect(portOrPath: number | string, host?: string): void
  requestSsl(): void
  cancel(processID: number, secretKey: number): void
}

/**
 * Over a connection of its own, which the server closes when it has signalled the process of the statement: a process
 * between two statements drops the signal before it reads the next. False when that is not known to have happened.
 */
function requestCancel(client: PoolClient): Promise<boolean> {
  const { host, port, ssl, sslNegotiation, processID, secretKey } = client as unknown as ServerConnection
  const connection = new Connection({ ssl, sslNegotiation } as object) as unknown as CancelConnection
  const { stream } = connection
  return new Promise((resolve) => {
    let isSent = false
    const send = (): void => {
      isSent = true
      connection.cancel(processID, secretKey)
    }
    connection.on('connect', () => {
      if (!ssl) send()
      else if (sslNegotiation !== 'direct') connection.requestSsl()
    })
    connection.on('sslconnect', send)
    connection.on('error', () => {
      isSent = false
      stream.destroy()
    })
    connection.on('end', () => resolve(isSent))
    stream.setTimeout(timeoutMs, () => stream.destroy(new Error('the server does not answer')))
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, host)
  })
}
