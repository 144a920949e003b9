// Applications whose callers meet in rooms and wait in queues, and their lists by the REST client.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../support/wait.ts'
import { JambonzClient, nodeClient, sdkWebhook, type Document, type SdkClient } from './libraries.ts'
import type { Customer, Stage } from './stage.ts'
import type { WebhookServer } from './webhook-server.ts'

const libraries: readonly (readonly [string, () => Document])[] = [
  ['@jambonz/node-client', () => new nodeClient.WebhookResponse()],
  ['@jambonz/sdk', () => new sdkWebhook.WebhookResponse()],
]

export function roomsAndQueues(stage: () => Stage): void {
  describe.each(libraries)('%s, rooms and queues', (_name, respond) => {
    let server: WebhookServer
    let customer: Customer
    let client: SdkClient

    beforeAll(async () => {
      server = await stage().webhookServer()
      server.on('/status', () => undefined)
      customer = await stage().customer({ call: server.hook('/call'), status: server.hook('/status') })
      server.use(sdkWebhook.WebhookResponse.verifySignature(customer.webhookSecret))
      const { account_sid: accountSid, apiKey } = customer
      client = new JambonzClient({ baseUrl: stage().baseUrl, accountSid, apiKey })
    })
    beforeEach(() => {
      expect(server.refused.items).toEqual([])
    })

    it('callers of one room hear each other, and the room is listed until they leave', async () => {
      server.on('/call', () =>
        respond().conference({
          name: 'stand-up',
          statusEvents: ['join', 'leave'],
          statusHook: '/room',
          actionHook: '/left',
        }),
      )
      server.on('/room', () => undefined)
      server.on('/left', () => respond().hangup())
      const [one, other] = [await stage().phone(), await stage().phone()]
      const first = await one.call(stage().platform, customer)
      const second = await other.call(stage().platform, customer)
      first.says(400)
      second.says(700)
      await Promise.all([first.hears(700), second.hears(400)])
      expect(await client.conferences.list()).toEqual(['stand-up'])
      await server.body('/room', ({ event }) => event === 'join')
      await Promise.all([first.hangUp(), second.hangUp()])
      await until('the room to be gone', async () => (await client.conferences.list()).length === 0)
    })

    it('a caller waits in a queue, which is listed, until an agent takes it', async () => {
      server.on('/call', () =>
        respond().enqueue({ name: 'support', waitHook: '/wait', actionHook: '/served' }),
      )
      server.on('/wait', () => respond().say({ text: 'You are the next.' }).pause({ length: 5 }))
      server.on('/served', () => respond().hangup())
      const [caller, agent] = [await stage().phone(), await stage().phone()]
      const waiting = await caller.call(stage().platform, customer)
      await server.body('/wait')
      expect(await client.queues.list()).toEqual([{ name: 'support', length: '1' }])
      expect(await client.queues.list('sales*')).toEqual([])
      server.on('/call', () => respond().dequeue({ name: 'support', beep: false, timeout: 20 }).hangup())
      const serving = await agent.call(stage().platform, customer)
      waiting.says(400)
      serving.says(700)
      await Promise.all([waiting.hears(700), serving.hears(400)])
      expect(await client.queues.list()).toEqual([])
      await serving.hangUp()
      expect(await server.body('/served')).toMatchObject({ queue_result: 'bridged' })
      await waiting.end()
    })
  })
}
