// Notifications of a call's steps from their commit to the receiver, over the durable outbox.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { covers } from '../support/covers.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createSid } from '../../src/lib/ids.ts'
import { silentLogger } from '../../src/lib/log.ts'
import { createOutgoing } from '../../src/outgoing/create-outgoing.ts'
import { createStorage } from '../../src/storage/create-storage.ts'
import { createDelivery } from '../../src/webhooks/create-delivery.ts'
import { startReceiver } from '../support/local-http.ts'
import { until } from '../support/wait.ts'

let dataDir = ''
const closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'switchhook-notifications-'))
})

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await rm(dataDir, { recursive: true, force: true })
})

const account_sid = createSid()

async function startNode() {
  const storage = createStorage({ dataDir, clock: systemClock, log: silentLogger })
  await storage.start()
  const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
  const delivery = createDelivery({
    outbox: storage.outbox,
    outgoing,
    appSockets: { open: () => Promise.reject(new Error('no hook here is a WebSocket URL')) },
    signingSecret: async () => 'wh_secret_test',
    clock: systemClock,
    log: silentLogger,
  })
  const enqueue = (url: string, call_sid: string, call_status: string): void => {
    const hook = { url, method: 'POST' as const, username: null, password: null }
    const notifications = [{ account_sid, call_sid, hook, payload: { call_sid, call_status } }]
    storage.calls.write({ call_sid, account_sid, events: [], notifications }, 'now')
  }
  const stop = async (): Promise<void> => {
    await delivery.stop()
    await outgoing.close()
    await storage.stop()
  }
  closing.push(stop)
  return { storage, delivery, enqueue, stop }
}

const states = ['trying', 'in-progress', 'completed']

describe('notifications', () => {
  it(
    'the notifications of a hundred calls arrive once each, in order per call, signed',
    covers({
      section: 'Not shown',
      says: 'Time-outs and retries of webhooks.',
      chosen:
        'Asking has a budget and retries that the URL asks for; notifications are kept and tried again.',
    }),
    async () => {
      const app = await startReceiver()
      closing.push(() => app.close())
      const node = await startNode()
      await node.delivery.start()
      const calls = Array.from({ length: 100 }, createSid)
      for (const state of states) for (const call of calls) node.enqueue(app.url, call, state)
      await app.arrived(300)
      for (const call of calls) {
        const mine = app.received.filter(({ body }) => body.includes(call))
        expect(mine.map(({ body }) => (JSON.parse(body) as { call_status: string }).call_status)).toEqual(
          states,
        )
        expect(mine.map(({ headers }) => headers['webhook-sequence'])).toEqual(['1', '2', '3'])
      }
      expect(app.received.every(({ headers }) => headers['jambonz-signature'] !== undefined)).toBe(true)
      await until('an empty outbox', async () => (await node.storage.outbox.nextDueAt()) === undefined)
    },
  )

  it('notifications to a working hook arrive if another one is dead, even after a restart', async () => {
    const dead = await startReceiver(() => ({ status: 503 }))
    const app = await startReceiver()
    closing.push(
      () => app.close(),
      () => dead.close(),
    )
    const call = createSid()
    const said = () =>
      app.received.map(({ body }) => (JSON.parse(body) as { call_status: string }).call_status)
    const first = await startNode()
    await first.delivery.start()
    first.enqueue(dead.url, call, 'join')
    await dead.arrived(1)
    first.enqueue(app.url, call, 'in-progress')
    first.enqueue(dead.url, call, 'leave')
    await app.arrived(1)
    await first.delivery.stop()
    first.enqueue(app.url, call, 'completed')
    await first.stop()
    const second = await startNode()
    await second.delivery.start()
    await app.arrived(2)
    expect(said()).toEqual(['in-progress', 'completed'])
    // The dead hook is sent only its first item.
    expect(new Set(dead.received.map(({ headers }) => headers['webhook-sequence']))).toEqual(new Set(['1']))
  })

  it('notifications survive a receiver that is down and a restart of the platform, and keep their id', async () => {
    let isUp = false
    const app = await startReceiver(() => ({ status: isUp ? 200 : 503 }))
    closing.push(() => app.close())
    const call = createSid()
    const first = await startNode()
    await first.delivery.start()
    for (const state of states) first.enqueue(app.url, call, state)
    await app.arrived(1)
    await first.stop()
    isUp = true
    const before = app.received.length
    const second = await startNode()
    await second.delivery.start()
    await app.arrived(before + 3)
    const later = app.received.slice(before)
    expect(later.map(({ headers }) => headers['webhook-id'])).toEqual(
      [1, 2, 3].map((n) => `msg_${call}_${n}`),
    )
    expect(later[0]?.headers['webhook-id']).toBe(app.received[0]?.headers['webhook-id'])
  })
})
