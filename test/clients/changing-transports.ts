// Applications over WebSocket that place calls and take them over from webhooks, with a second WebSocket for audio.
import { createServer } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { listenLocally, type LocalServer } from '../support/local-http.ts'
import { Inbox } from '../support/wait.ts'
import { JambonzClient, sdkWebhook, sdkWebSocket, type SdkClient, type SdkSession } from './libraries.ts'
import type { Customer, Stage } from './stage.ts'
import type { WebhookServer } from './webhook-server.ts'

export function changingTransports(stage: () => Stage): void {
  describe('@jambonz/sdk, webhooks and WebSocket in one call', () => {
    let web: WebhookServer
    let sockets: LocalServer
    let customer: Customer
    let client: SdkClient
    const sessions = new Inbox<SdkSession>()
    let begin: (session: SdkSession) => void
    const socketUrl = () => `${sockets.url.replace('http:', 'ws:')}/app`

    beforeAll(async () => {
      web = await stage().webhookServer()
      web.on('/status', () => undefined)
      web.on('/wait', () => new sdkWebhook.WebhookResponse().answer().pause({ length: 60 }))
      customer = await stage().customer({ call: web.hook('/wait'), status: web.hook('/status') })
      web.use(sdkWebhook.WebhookResponse.verifySignature(customer.webhookSecret))
      const server = createServer()
      sockets = await listenLocally(server)
      stage().closes(sockets)
      const service = sdkWebSocket.createEndpoint({ server })({ path: '/app' })
      service.on('session:new', (session) => {
        sessions.push(session)
        begin(session)
      })
      const { account_sid: accountSid, apiKey } = customer
      client = new JambonzClient({ baseUrl: stage().baseUrl, accountSid, apiKey })
    })

    it('a call run by webhooks is redirected to a session, which redirects it back to a webhook', async () => {
      begin = (session) => session.say({ text: 'Now over a socket.' }).pause({ length: 60 }).reply()
      web.on('/last', () => new sdkWebhook.WebhookResponse().say({ text: 'Goodbye.' }).hangup())
      const phone = await stage().phone()
      const talk = await phone.call(stage().platform, customer)
      const { call_sid } = await web.body('/wait')
      await client.calls.redirect(String(call_sid), socketUrl())
      const session = await sessions.next('the session', ({ callSid }) => callSid === call_sid)
      await talk.hearsSpeech()
      session.injectCommand('redirect', { call_hook: web.url('/last') })
      await web.body('/last')
      expect(await talk.end()).not.toBe('failed')
      expect(web.refused.items).toEqual([])
    })

    it('a call that the platform places is run by a session, and its status is sent to signed webhooks', async () => {
      begin = (session) => session.say({ text: 'Hello.' }).hangup().send()
      const phone = await stage().phone()
      const sid = await client.calls.create({
        from: '+15550100',
        to: { type: 'sip', sipUri: phone.uri },
        call_hook: socketUrl(),
        call_status_hook: web.url('/status'),
        speech_synthesis_vendor: 'default',
        speech_synthesis_language: 'en-US',
        speech_synthesis_voice: 'default',
        speech_recognizer_vendor: 'default',
        speech_recognizer_language: 'en-US',
      })
      const talk = await phone.answers()
      await talk.hearsSpeech()
      const session = await sessions.next('the session', ({ callSid }) => callSid === sid)
      expect(session.data).toMatchObject({ direction: 'outbound' })
      expect(await talk.end()).not.toBe('failed')
      await web.body('/status', (body) => body['call_sid'] === sid && body['call_status'] === 'completed')
      expect(web.refused.items).toEqual([])
    })
  })
}
