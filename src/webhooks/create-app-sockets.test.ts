import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import type { AppSocketRequest } from '../contracts/app-socket.ts'
import { AppError } from '../lib/errors.ts'
import type { Socket, SocketRequest } from '../outgoing/sockets.ts'
import { createAppSockets } from './create-app-sockets.ts'
import { signatureHeaders } from './signing.ts'

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

function openWith(url: string, more: Partial<AppSocketRequest> = {}, pingMs = 0) {
  const clock = createFakeClock()
  const asked: SocketRequest[] = []
  const failures: AppError[] = []
  let pings = 0
  const socket: Socket = {
    send: () => undefined,
    close: () => undefined,
    cut: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    ping: () => void pings++,
    bufferedBytes: 0,
  }
  const sockets = createAppSockets({
    sockets: {
      open(request) {
        asked.push(request)
        const failure = failures.shift()
        return failure === undefined ? Promise.resolve(socket) : Promise.reject(failure)
      },
    },
    signingSecret: () => Promise.resolve('secret'),
    clock,
    userAgent: 'Switchhook',
    maxMessageBytes: 24_576,
    pingMs,
  })
  const open = (): Promise<unknown> =>
    sockets.open({
      account_sid: 'a',
      hook: { url, method: 'POST', username: 'u', password: 'p' },
      isRetried: true,
      heard: () => undefined,
      closed: () => undefined,
      signal: new AbortController().signal,
      ...more,
    })
  return { clock, asked, failures, open, pings: () => pings }
}

const unreachable = (): AppError => new AppError('hook_unreachable', 'no')
const late = (): AppError => new AppError('hook_timeout', 'no')
const noTls = (): AppError => new AppError('hook_unreachable', 'no', { detail: { isLasting: true } })
const refused = (status: number): AppError => new AppError('hook_bad_status', 'no', { detail: { status } })

describe('the socket of an application', () => {
  it('asks with the protocol, with Basic credentials, and signed as a GET without a payload', async () => {
    const { asked, open, clock } = openWith('wss://app.test/call?x=1#rc=0')
    await open()
    const [request] = asked
    expect(request).toMatchObject({
      url: 'wss://app.test/call?x=1',
      protocols: ['ws.jambonz.org'],
      handshakeMs: 1500,
      maxRedirects: 2,
      maxMessageBytes: 24_576,
      headers: {
        authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
        'user-agent': 'Switchhook',
      },
    })
    const id = request?.headers['webhook-id'] ?? ''
    expect(request?.headers).toMatchObject(
      signatureHeaders({ secret: 'secret', id, at: clock.now(), body: 'null' }),
    )
  })

  it.each(['http://app.test/', 'wss://u:p@app.test/', 'ws:', 'app'])('is none at %s', async (url) => {
    await expect(openWith(url).open()).rejects.toMatchObject({ code: 'hook_bad_url' })
  })

  it('is tried five times more where no connection is made, after 500, 1000, 2000, 4000 and 6000 ms', async () => {
    const { clock, asked, failures, open } = openWith('ws://app.test/')
    failures.push(...Array.from({ length: 6 }, unreachable))
    const opened = open()
    opened.catch(() => undefined)
    for (const ms of [500, 1000, 2000, 4000, 6000]) {
      await settle()
      clock.advance(ms)
    }
    await expect(opened).rejects.toMatchObject({ code: 'hook_unreachable', detail: { attempts: 6 } })
    expect(asked).toHaveLength(6)
  })

  it.each([
    ['#rc=0', unreachable(), 1],
    ['#rc=2', unreachable(), 3],
    ['', refused(503), 1],
    ['#rc=2', late(), 3],
    ['#rc=2&rp=rt', late(), 3],
    ['#rc=2&rp=5xx', late(), 1],
    ['', noTls(), 1],
    ['#rc=1&rp=5xx', refused(503), 2],
    ['#rc=1&rp=5xx', unreachable(), 1],
  ])('is tried as often as "%s" says', async (fragment, failure, attempts) => {
    const { clock, asked, failures, open } = openWith(`ws://app.test/${fragment}`)
    failures.push(...Array.from({ length: 9 }, () => failure))
    const opened = open()
    opened.catch(() => undefined)
    for (let turn = 0; turn < 6; turn++) {
      await settle()
      clock.advance(6000)
    }
    await expect(opened).rejects.toMatchObject({ code: failure.code })
    expect(asked).toHaveLength(attempts)
  })

  it('that replaces a broken one is tried once: its caller has its own schedule', async () => {
    const { asked, failures, open } = openWith('ws://app.test/', { isRetried: false })
    failures.push(unreachable())
    await expect(open()).rejects.toMatchObject({ code: 'hook_unreachable' })
    expect(asked).toHaveLength(1)
  })

  it('gets pings where they are asked for, until it is closed', async () => {
    const { clock, asked, open, pings } = openWith('ws://app.test/', {}, 16_000)
    await open()
    clock.advance(16_000)
    clock.advance(16_000)
    expect(pings()).toBe(2)
    asked[0]?.closed({ code: 1000, because: 'over' })
    expect(clock.pending).toBe(0)
  })
})
