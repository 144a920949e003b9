import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { afterEach, describe, expect, it } from 'vitest'
import { startReceiver, type Receiver, type Reply } from '../../test/support/local-http.ts'
import { systemClock } from '../lib/clock.ts'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { createSockets } from '../outgoing/create-sockets.ts'
import { createAppSockets } from './create-app-sockets.ts'
import { createDelivery, type DeliveryOptions } from './create-delivery.ts'
import type { Alert } from '../contracts/alert.ts'
import { MemoryOutbox } from '../../test/support/memory-outbox.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** The number of running requests, during which the fake clock stands still. */
let underWay = 0

/** Counts running requests. */
function counting(outgoing: Outgoing): Pick<Outgoing, 'request'> {
  return {
    async request(asked) {
      underWay++
      try {
        return await outgoing.request(asked)
      } finally {
        underWay--
      }
    },
  }
}

function setUp(options: Partial<DeliveryOptions> = {}) {
  const clock = options.clock ?? systemClock
  const outbox = new MemoryOutbox(() => clock.now())
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  const delivery = createDelivery({
    outbox,
    outgoing: { ...outgoing, ...counting(outgoing) },
    appSockets: createAppSockets({
      sockets: createSockets({ allow: ['127.0.0.0/8'], clock, resolve: async () => [] }),
      signingSecret: async () => 'wh_secret_test',
      clock,
      userAgent: 'switchhook/test',
      maxMessageBytes: 1024,
      pingMs: 0,
    }),
    signingSecret: async () => 'wh_secret_test',
    clock,
    log: silentLogger,
    random: () => 0.5,
    ...options,
  })
  closing.push(
    () => outgoing.close(),
    () => delivery.stop(),
  )
  return { outbox, delivery }
}

async function receiver(reply: (index: number) => Reply = () => ({})): Promise<Receiver> {
  const made = await startReceiver((_request, index) => reply(index))
  closing.push(() => made.close())
  return made
}

async function startWebSocketServer(port = 0) {
  const server = new WebSocketServer({ host: '127.0.0.1', port, handleProtocols: () => 'ws.jambonz.org' })
  await once(server, 'listening')
  const heard: unknown[] = []
  const closed = new Promise<number>((resolve) =>
    server.on('connection', (socket) => {
      socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString())))
      socket.on('close', resolve)
    }),
  )
  const { port: taken } = server.address() as AddressInfo
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
  return { port: taken, heard, closed, close }
}

/** Moves the clock on in small steps while no request is running, until `done`; returns the time it took. */
async function advanceUntil(clock: FakeClock, done: Promise<unknown>, stepMs = 10): Promise<number> {
  let isDone = false
  const started = clock.monotonic()
  void done.then(() => (isDone = true))
  while (!isDone) {
    if (underWay === 0) clock.advance(stepMs)
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return clock.monotonic() - started
}

describe('delivery', () => {
  it('posts the exact payload, signed, with an id and a sequence that stay', async () => {
    const app = await receiver((index) => (index === 0 ? { status: 500 } : {}))
    const { outbox, delivery } = setUp()
    await delivery.start()
    outbox.add(`${app.url}/status`, 'c1', { hook: { username: 'u', password: 'p' } })
    await outbox.settled(2)
    const [first, second] = app.received
    expect(first).toMatchObject({ method: 'POST', path: '/status', body: '{"call_sid":"c1","n":1}' })
    expect(first?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
      'webhook-id': 'msg_c1_1',
      'webhook-sequence': '1',
    })
    expect(first?.headers['jambonz-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/)
    expect(second?.headers['webhook-id']).toBe('msg_c1_1')
    expect(outbox.log.map(({ outcome }) => outcome)).toEqual(['retry', 'delivered'])
  })

  it('names the trace of the call, and the notification as a span of it, which stays', async () => {
    const app = await receiver((index) => (index === 0 ? { status: 500 } : {}))
    const { outbox, delivery } = setUp()
    await delivery.start()
    const call_sid = '0190a8c2-1b2c-4d3e-8f40-5a6b7c8d9e0f'
    for (let sequence = 1; sequence <= 2; sequence++) outbox.add(app.url, call_sid)
    await outbox.settled(3)
    const [first, again, next] = app.received.map(({ headers }) => headers['b3'])
    expect(first).toMatch(/^0190a8c21b2c4d3e8f405a6b7c8d9e0f-[0-9a-f]{16}-1$/)
    expect(again).toBe(first)
    expect(next).toMatch(/^0190a8c21b2c4d3e8f405a6b7c8d9e0f-[0-9a-f]{16}-1$/)
    expect(next).not.toBe(first)
  })

  it('keeps the order of a call while its first notification fails, and does not hold up other calls', async () => {
    const app = await startReceiver(({ body }, index) => ({
      status: body.includes('"c1"') && index < 3 ? 503 : 200,
    }))
    closing.push(() => app.close())
    const { outbox, delivery } = setUp()
    for (const call of ['c1', 'c2', 'c1', 'c2', 'c1']) outbox.add(app.url, call)
    await delivery.start()
    await outbox.settled(6)
    const order = (call: string) =>
      app.received
        .filter(({ body }) => body.includes(`"${call}"`))
        .map(({ headers }) => headers['webhook-sequence'])
    expect(order('c2')).toEqual(['1', '2'])
    expect(order('c1')).toEqual(['1', '1', '2', '3'])
  })

  it.each([200, 201, 202, 204])('treats %i as delivered', async (status) => {
    const app = await receiver(() => ({ status }))
    const { outbox, delivery } = setUp()
    await delivery.start()
    outbox.add(app.url, 'c1')
    await outbox.settled(1)
    expect(outbox.log).toMatchObject([{ outcome: 'delivered', status }])
  })

  it.each([
    ['a redirect', { status: 302 }, 'the hook answered with status 302'],
    ['404', { status: 404 }, 'the hook answered with status 404'],
    ['silence', { hangs: true }, 'the hook did not answer in time'],
  ] satisfies [string, Reply, string][])('tries again after %s', async (_what, reply, error) => {
    const app = await receiver(() => reply)
    const { outbox, delivery } = setUp('hangs' in reply ? { answerTimeoutMs: 100 } : {})
    await delivery.start()
    outbox.add(app.url, 'c1')
    await outbox.settled(1)
    expect(outbox.log).toMatchObject([{ outcome: 'retry', error }])
  })

  it('abandons what the receiver says is gone, and what has no URL to go to', async () => {
    const app = await receiver(() => ({ status: 410 }))
    const alerts: Alert[] = []
    const { outbox, delivery } = setUp({ alerts: { raise: (alert) => void alerts.push(alert) } })
    await delivery.start()
    outbox.add(app.url, 'c1')
    outbox.add('mailto:someone', 'c2')
    await outbox.settled(2)
    expect(outbox.log.map(({ outcome }) => outcome)).toEqual(['abandoned', 'abandoned'])
    expect(alerts.sort((a, b) => String(a.call_sid).localeCompare(String(b.call_sid)))).toMatchObject([
      { account_sid: 'a1', call_sid: 'c1', alert_type: 'webhook-failure', detail: app.url },
      { account_sid: 'a1', call_sid: 'c2', alert_type: 'webhook-failure', detail: 'mailto:someone' },
    ])
    expect(alerts[0]?.message).toContain('given up after attempt 1')
  })

  it('does not wait for the body of an answer', async () => {
    const app = await receiver(() => ({ body: 'x'.repeat(10 * 1024 * 1024) }))
    const { outbox, delivery } = setUp()
    await delivery.start()
    outbox.add(app.url, 'c1')
    await outbox.settled(1)
    expect(outbox.log).toMatchObject([{ outcome: 'delivered' }])
  })

  it('follows the schedule while a receiver is down, and delivers when it is back', async () => {
    const clock = createFakeClock()
    const app = await receiver((index) => (index < 4 ? { status: 500 } : {}))
    const { outbox, delivery } = setUp({ clock })
    await delivery.start()
    outbox.add(app.url, 'c1')
    const waits: number[] = []
    for (let count = 1; count <= 5; count++) waits.push(await advanceUntil(clock, outbox.settled(count)))
    for (const [index, expected] of [1000, 5000, 15_000, 60_000].entries()) {
      const took = waits[index + 1] ?? 0
      expect(took).toBeGreaterThanOrEqual(expected)
      expect(took).toBeLessThan(expected * 1.1 + 200)
    }
    expect(outbox.log.at(-1)).toMatchObject({ outcome: 'delivered' })
  })

  it.each([
    [401, 'webhook-auth-failure'],
    [404, 'webhook-url-notfound'],
    [500, 'webhook-failure'],
    [undefined, 'webhook-connection-failure'],
  ])('raises an alert at the first failure alone (%s)', async (status, alert_type) => {
    const clock = createFakeClock()
    const app = await receiver(() => ({ status: status ?? 200 }))
    if (status === undefined) await app.close()
    const alerts: Alert[] = []
    const { outbox, delivery } = setUp({ clock, alerts: { raise: (alert) => void alerts.push(alert) } })
    await delivery.start()
    outbox.add(app.url, 'c1')
    for (let count = 1; count <= 3; count++) await advanceUntil(clock, outbox.settled(count))
    expect(outbox.log.map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'retry'])
    expect(alerts).toMatchObject([{ account_sid: 'a1', call_sid: 'c1', alert_type, detail: app.url }])
  })

  it('abandons after three days, and raises an alert', async () => {
    const clock = createFakeClock()
    const alerts: Alert[] = []
    const app = await receiver(() => ({ status: 500 }))
    const { outbox, delivery } = setUp({ clock, alerts: { raise: (alert) => void alerts.push(alert) } })
    await delivery.start()
    outbox.add(app.url, 'c1')
    const hours = async () => {
      while (outbox.rows.length > 0) await advanceUntil(clock, outbox.settled(outbox.log.length + 1), 20_000)
    }
    await hours()
    expect(outbox.log.at(-1)).toMatchObject({
      outcome: 'abandoned',
      error: 'the hook answered with status 500',
    })
    expect(app.received.length).toBeGreaterThan(15)
    expect(app.received.length).toBeLessThan(25)
    expect(alerts.map(({ message }) => message)).toEqual([
      'the hook answered with status 500',
      `the hook answered with status 500; the notification was given up after attempt ${app.received.length}`,
    ])
  })

  it('goes on for other accounts while the receiver of one hangs', async () => {
    const dead = await receiver(() => ({ hangs: true }))
    const alive = await receiver()
    const { outbox, delivery } = setUp({ stopGraceMs: 10, answerTimeoutMs: 60_000 })
    for (let call = 0; call < 500; call++) outbox.add(dead.url, `dead-${call}`, { account: 'dead' })
    for (let call = 0; call < 100; call++) outbox.add(alive.url, `alive-${call}`, { account: 'alive' })
    await delivery.start()
    await outbox.settled(100)
    expect(outbox.log.every(({ outcome }) => outcome === 'delivered')).toBe(true)
    expect(dead.received.length).toBeLessThanOrEqual(16)
  })

  it('goes on for the other hosts of an account while one of them hangs', async () => {
    const dead = await receiver(() => ({ hangs: true }))
    const alive = await receiver()
    const { outbox, delivery } = setUp({ stopGraceMs: 10, answerTimeoutMs: 60_000 })
    for (let call = 0; call < 500; call++) outbox.add(`${dead.url}/status?n=${call}`, `dead-${call}`)
    for (let call = 0; call < 100; call++) outbox.add(alive.url, `alive-${call}`)
    await delivery.start()
    await outbox.settled(100)
    expect(outbox.log.every(({ outcome }) => outcome === 'delivered')).toBe(true)
    expect(alive.received).toHaveLength(100)
    expect(dead.received.length).toBeLessThanOrEqual(16)
  })

  it('comes through to other accounts although the outbox hands out a dead one first', async () => {
    const dead = await receiver(() => ({ hangs: true }))
    const alive = await receiver()
    const { outbox, delivery } = setUp({ stopGraceMs: 10, answerTimeoutMs: 5000 })
    const claim = outbox.claim.bind(outbox)
    outbox.claim = (limit, leaseMs) => claim(limit, leaseMs)
    for (let call = 0; call < 1500; call++) outbox.add(dead.url, `dead-${call}`, { account: 'dead' })
    for (let call = 0; call < 20; call++) outbox.add(alive.url, `alive-${call}`, { account: 'alive' })
    await delivery.start()
    await alive.arrived(20)
    expect(dead.received.length).toBeLessThan(100)
  })

  it('sleeps when there is nothing to do', async () => {
    const clock = createFakeClock()
    const { outbox, delivery } = setUp({ clock })
    await delivery.start()
    await advanceUntil(clock, new Promise((resolve) => clock.after(600_000, () => resolve(undefined))), 1000)
    expect(outbox.claims).toBeLessThan(15)
  })

  it('settles again when the outbox could not be written', async () => {
    const clock = createFakeClock()
    const app = await receiver()
    const { outbox, delivery } = setUp({ clock })
    outbox.brokenSettles = 2
    await delivery.start()
    outbox.add(app.url, 'c1')
    await advanceUntil(clock, outbox.settled(1))
    expect(outbox.log).toMatchObject([{ outcome: 'delivered' }])
    expect(app.received).toHaveLength(1)
  })
})

describe('a hook that is a WebSocket URL', () => {
  it('gets the notification as call:status over a new socket, once the server is there, with an id that stays', async () => {
    const alerts: Alert[] = []
    const { outbox, delivery } = setUp({ alerts: { raise: (alert) => void alerts.push(alert) } })
    const gone = await startWebSocketServer()
    await gone.close()
    await delivery.start()
    outbox.add(`ws://127.0.0.1:${gone.port}/status`, 'c1')
    await outbox.settled(1)
    expect(outbox.log).toMatchObject([{ outcome: 'retry' }])
    expect(alerts).toHaveLength(1)
    const app = await startWebSocketServer(gone.port)
    closing.push(() => app.close())
    await Promise.all([outbox.settled(2), app.closed])
    expect(outbox.log).toMatchObject([{ outcome: 'retry' }, { outcome: 'delivered', status: 101 }])
    expect(app.heard).toEqual([
      { type: 'call:status', msgid: 'msg_c1_1', call_sid: 'c1', data: { call_sid: 'c1', n: 1 } },
    ])
    expect(await app.closed).toBe(1000)
  })

  it('gets the trace of the call and a span of it, as in every message over a socket', async () => {
    const { outbox, delivery } = setUp()
    const app = await startWebSocketServer()
    closing.push(() => app.close())
    await delivery.start()
    outbox.add(`ws://127.0.0.1:${app.port}/status`, '0190a8c2-1b2c-4d3e-8f40-5a6b7c8d9e0f')
    await Promise.all([outbox.settled(1), app.closed])
    const b3: unknown = expect.stringMatching(/^0190a8c21b2c4d3e8f405a6b7c8d9e0f-[0-9a-f]{16}-1$/)
    expect(app.heard).toMatchObject([{ type: 'call:status', b3 }])
  })
})

describe('stop', () => {
  it('sends what is due first, and what comes meanwhile', async () => {
    const app = await receiver()
    const { outbox, delivery } = setUp()
    await delivery.start()
    outbox.add(app.url, 'c1')
    const stopped = delivery.stop()
    outbox.add(app.url, 'c1')
    await stopped
    expect(outbox.log).toMatchObject([{ outcome: 'delivered' }, { outcome: 'delivered' }])
    expect(app.received).toHaveLength(2)
    expect(outbox.rows).toEqual([])
  })

  it('does not wait for a receiver that has failed', async () => {
    const app = await receiver(() => ({ status: 500 }))
    const { outbox, delivery } = setUp({ dueGraceMs: 30_000 })
    await delivery.start()
    outbox.add(app.url, 'c1')
    await app.arrived(1)
    await delivery.stop()
    expect(outbox.log).toMatchObject([{ outcome: 'retry' }])
    expect(app.received).toHaveLength(1)
  })

  it('lets running requests finish when the time for that is over, and begins no other', async () => {
    let finish = (): void => {}
    const app = await receiver()
    const { outbox, delivery } = setUp({
      dueGraceMs: 0,
      signingSecret: () => new Promise((resolve) => (finish = () => resolve('s'))),
    })
    await delivery.start()
    outbox.add(app.url, 'c1')
    while (outbox.claims === 0) await new Promise((resolve) => setImmediate(resolve))
    const stopped = delivery.stop()
    outbox.add(app.url, 'c2')
    await new Promise((resolve) => setImmediate(resolve))
    finish()
    await stopped
    expect(outbox.log).toMatchObject([{ outcome: 'delivered' }])
    expect(app.received).toHaveLength(1)
  })

  it('cuts what does not finish in its grace and leaves it due at once, as one that was not tried', async () => {
    const app = await receiver(() => ({ hangs: true }))
    const { outbox, delivery } = setUp({ dueGraceMs: 0, stopGraceMs: 50 })
    await delivery.start()
    outbox.add(app.url, 'c1')
    await app.arrived(1)
    await Promise.all([delivery.stop(), delivery.stop()])
    expect(outbox.log).toMatchObject([{ outcome: 'put-back' }])
    expect(outbox.rows[0]?.dueAt).toBeLessThanOrEqual(Date.now())
    // An attempt that counted would take the alert from the first one that fails.
    expect(outbox.rows[0]?.item.attempts).toBe(0)
  })

  it('returns at once when nothing runs', async () => {
    const { delivery } = setUp()
    await delivery.start()
    await delivery.stop()
  })
})
