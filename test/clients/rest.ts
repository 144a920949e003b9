// Applications that control calls by the REST clients of the libraries.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TalkingPhone } from '../support/talking-phone.ts'
import { until } from '../support/wait.ts'
import { JambonzClient, nodeClient, type NodeRestClient, type SdkClient } from './libraries.ts'
import type { Customer, Stage } from './stage.ts'
import type { WebhookServer } from './webhook-server.ts'

export function restClients(stage: () => Stage): void {
  let server: WebhookServer
  let customer: Customer
  let phone: TalkingPhone

  beforeAll(async () => {
    server = await stage().webhookServer()
    server.on('/status', () => undefined)
    server.on('/wait', () => new nodeClient.WebhookResponse().pause({ length: 60 }))
    server.on('/other', () => new nodeClient.WebhookResponse().say({ text: 'Goodbye.' }).hangup())
    customer = await stage().customer({ call: server.hook('/wait'), status: server.hook('/status') })
    server.use(nodeClient.WebhookResponse.verifyJambonzSignature(customer.webhookSecret))
  })
  beforeEach(async () => {
    phone = await stage().phone()
  })

  const order = () => ({
    from: '+15550100',
    to: { type: 'sip', sipUri: phone.uri },
    application_sid: customer.application_sid,
  })
  const isUp = (call_sid: string) =>
    server.body('/status', (body) => body['call_sid'] === call_sid && body['call_status'] === 'in-progress')
  const isOver = (call_sid: string) =>
    server.body('/status', (body) => body['call_sid'] === call_sid && body['call_status'] === 'completed')

  describe('@jambonz/node-client, REST', () => {
    let client: NodeRestClient
    beforeAll(() => {
      client = nodeClient(customer.account_sid, customer.apiKey, { baseUrl: stage().baseUrl })
    })

    it('the REST client creates, lists, reads and deletes applications of the account', async () => {
      const name = 'made by the client'
      const hooks = { call_hook: server.hook('/wait'), call_status_hook: server.hook('/status') }
      const sid = await client.applications.create({ name, account_sid: customer.account_sid, ...hooks })
      expect((await client.applications.list()).map(({ application_sid }) => application_sid)).toContain(sid)
      expect(await client.applications.retrieve(sid)).toMatchObject({ name })
      await client.applications.delete(sid)
      await expect(client.applications.retrieve(sid)).rejects.toThrow(/not found/)
    })

    it('the REST client calls a phone, lists the live call and redirects it, and the phone hears that', async () => {
      const sid = await client.calls.create(order())
      const talk = await phone.answers()
      await isUp(sid)
      expect(await client.calls.retrieve(sid)).toMatchObject({ call_sid: sid, direction: 'outbound' })
      expect((await client.calls.list()).map(({ call_sid }) => call_sid)).toContain(sid)
      await client.calls.update(sid, { call_hook: server.url('/other') })
      await talk.hearsSpeech()
      expect(await talk.end()).not.toBe('failed')
      await isOver(sid)
    })

    it('the REST client ends a call by its status, and another by deleting it', async () => {
      for (const end of ['update', 'delete'] as const) {
        const sid = await client.calls.create(order())
        const talk = await phone.answers()
        await isUp(sid)
        await (end === 'update'
          ? client.calls.update(sid, { call_status: 'completed' })
          : client.calls.delete(sid))
        expect(await talk.end()).not.toBe('failed')
        await isOver(sid)
      }
    })

    it('the REST client gets an error with the reason for a call that is not possible', async () => {
      const unknown = { ...order(), application_sid: '00000000-0000-4000-8000-000000000000' }
      await expect(client.calls.create(unknown)).rejects.toMatchObject({ statusCode: 400 })
      await expect(
        client.calls.update(unknown.application_sid, { call_status: 'completed' }),
      ).rejects.toThrow()
    })
  })

  describe('@jambonz/sdk, REST', () => {
    let client: SdkClient
    beforeAll(() => {
      const { account_sid: accountSid, apiKey } = customer
      client = new JambonzClient({ baseUrl: stage().baseUrl, accountSid, apiKey })
    })

    it('the SDK calls a phone, counts and filters calls, whispers to it, redirects it', async () => {
      const sid = await client.calls.create(order())
      const talk = await phone.answers()
      await isUp(sid)
      expect(await client.calls.get(sid)).toMatchObject({ call_sid: sid, call_status: 'in-progress' })
      expect(await client.calls.count()).toEqual({ inbound: 0, outbound: 1 })
      const [listed] = await client.calls.list({ direction: 'outbound', callStatus: 'in-progress' })
      expect(listed).toMatchObject({ call_sid: sid })
      expect(await client.calls.list({ direction: 'inbound' })).toEqual([])
      await client.calls.redirect(sid, { url: server.url('/other'), method: 'POST' })
      await talk.hearsSpeech()
      await talk.end()
      await isOver(sid)
      await until('no call to be counted', async () => (await client.calls.count()).outbound === 0)
    })

    it('the SDK hangs a call up by deleting it', async () => {
      const sid = await client.calls.create(order())
      const talk = await phone.answers()
      await isUp(sid)
      await client.calls.delete(sid)
      expect(await talk.end()).not.toBe('failed')
    })

    it('the SDK gets the code and the cure of a refusal', async () => {
      const none = '00000000-0000-4000-8000-000000000000'
      await expect(client.calls.get(none)).rejects.toThrow(/404/)
      await expect(client.calls.create({ from: '+15550100', to: { type: 'fax' } })).rejects.toThrow(/400/)
    })
  })
}
