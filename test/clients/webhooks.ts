// Applications that answer hooks with the documents of the libraries, with their signature checks on.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TalkingPhone } from '../support/talking-phone.ts'
import { JambonzClient, nodeClient, sdkWebhook, type Document } from './libraries.ts'
import type { Customer, Stage } from './stage.ts'
import type { Middleware, WebhookServer } from './webhook-server.ts'

interface Library {
  readonly name: string
  readonly respond: () => Document
  readonly check: (secret: string) => Middleware
}

const libraries: readonly Library[] = [
  {
    name: '@jambonz/node-client',
    respond: () => new nodeClient.WebhookResponse(),
    check: (secret) => nodeClient.WebhookResponse.verifyJambonzSignature(secret),
  },
  {
    name: '@jambonz/sdk',
    respond: () => new sdkWebhook.WebhookResponse(),
    check: (secret) => sdkWebhook.WebhookResponse.verifySignature(secret),
  },
]

export function webhookApplications(stage: () => Stage): void {
  describe.each(libraries)('$name, webhooks', ({ respond, check }) => {
    let server: WebhookServer
    let customer: Customer
    let phone: TalkingPhone
    const calls = () => phone.call(stage().platform, customer)

    beforeEach(async () => {
      server = await stage().webhookServer()
      server.on('/status', () => undefined)
      customer = await stage().customer({ call: server.hook('/call'), status: server.hook('/status') })
      server.use(check(customer.webhookSecret))
      phone = await stage().phone()
    })

    it('a menu: the caller hears it, presses a key, and continues with the answer to the choice', async () => {
      const menu = () =>
        respond()
          .gather({
            input: ['digits'],
            numDigits: 1,
            timeout: 20,
            actionHook: '/choice',
            say: { text: 'Press one for sales, or two for support.' },
          })
          .hangup()
      server.on('/call', () =>
        respond().say({ text: 'Welcome.' }).pause({ length: 0.1 }).redirect({ actionHook: '/menu' }),
      )
      server.on('/menu', menu)
      server.on('/choice', ({ digits }) =>
        respond()
          .tag({ data: { choice: digits } })
          .say({ text: 'Thank you.' })
          .hangup(),
      )
      const talk = await calls()
      await server.body('/menu')
      await talk.hearsSpeech()
      talk.press('2')
      expect(await server.body('/choice')).toMatchObject({ digits: '2', reason: 'dtmfDetected' })
      expect(await talk.end()).not.toBe('failed')
      const last = await server.body('/status', (body) => body['call_status'] === 'completed')
      expect(last).toMatchObject({ call_sid: expect.any(String), customerData: { choice: '2' } })
      expect(server.refused.items).toEqual([])
    })

    it('the application connects the caller with another phone, and its hook reports how that ended', async () => {
      const agent = await stage().phone()
      server.on('/call', () =>
        respond()
          .dial({
            answerOnBridge: true,
            actionHook: '/dialled',
            target: [{ type: 'sip', sipUri: agent.uri }],
          })
          .say({ text: 'Goodbye.' })
          .hangup(),
      )
      server.on('/dialled', () => undefined)
      const ringing = agent.answers()
      const talk = await calls()
      const other = await ringing
      talk.says(400)
      other.says(700)
      await Promise.all([talk.hears(700), other.hears(400)])
      await other.hangUp()
      expect(await server.body('/dialled')).toMatchObject({
        dial_call_status: 'completed',
        dial_sip_status: 200,
      })
      await talk.end()
      expect(server.refused.items).toEqual([])
    })

    it('the application refuses a hook signed with another secret, and the caller is refused', async () => {
      server.use(check('wh_secret_of_another'))
      server.on('/call', () => respond().hangup())
      await expect(calls()).rejects.toThrow('refused with 480')
      expect(server.refused.items.length).toBeGreaterThan(0)
    })
  })

  describe('@jambonz/sdk, mid-call control and variables', () => {
    let server: WebhookServer
    beforeAll(async () => {
      server = await stage().webhookServer()
      const greeting = { type: 'string', description: 'What callers hear first', default: 'Hello.' }
      server.use(sdkWebhook.envVarsMiddleware({ GREETING: greeting }))
    })

    it('the application declares variables, gets their values, and whispers and mutes while two talk', async () => {
      server.on('/status', () => undefined)
      const customer = await stage().customer({ call: server.hook('/call'), status: server.hook('/status') })
      server.use(sdkWebhook.WebhookResponse.verifySignature(customer.webhookSecret))
      const { api } = stage().platform
      const declared = await api.must('GET', `/AppEnv?url=${encodeURIComponent(server.url('/call'))}`)
      expect(declared).toMatchObject({ GREETING: { default: 'Hello.' } })
      await api.must('PUT', `/Applications/${customer.application_sid}`, {
        env_vars: { GREETING: 'Good day.' },
      })
      const [caller, agent] = [await stage().phone(), await stage().phone()]
      server.on('/call', ({ env_vars }) =>
        new sdkWebhook.WebhookResponse()
          .say({ text: String((env_vars as { GREETING: string }).GREETING) })
          .dial({ target: [{ type: 'sip', sipUri: agent.uri }] }),
      )
      const ringing = agent.answers()
      const talk = await caller.call(stage().platform, customer)
      const other = await ringing
      expect(await server.body('/call')).toMatchObject({ env_vars: { GREETING: 'Good day.' } })
      talk.says(400)
      await other.hears(400)
      const { account_sid: accountSid, apiKey } = customer
      const client = new JambonzClient({ baseUrl: stage().baseUrl, accountSid, apiKey })
      const [call] = await client.calls.list({ direction: 'inbound' })
      const sid = call?.call_sid ?? ''
      await client.calls.whisper(sid, { verb: 'say', text: 'Recording has started.' })
      await client.calls.mute(sid, 'mute')
      await expect.poll(() => other.loudness).toBeLessThan(0.01)
      await client.calls.mute(sid, 'unmute')
      await other.hears(400)
      await client.calls.update(sid, { call_status: 'completed' })
      await Promise.all([talk.end(), other.end()])
      expect(server.refused.items).toEqual([])
    })
  })
}
