// Applications over WebSocket, written with the libraries that support it.
import { createServer } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { listenLocally } from '../support/local-http.ts'
import { RecordingServer } from '../support/recording-server.ts'
import type { Talk, TalkingPhone } from '../support/talking-phone.ts'
import { toneShare } from '../support/audio.ts'
import { Inbox, until } from '../support/wait.ts'
import {
  nodeClientWs,
  sdkWebSocket,
  type CreateEndpoint,
  type SdkSession,
  type WsSession,
} from './libraries.ts'
import type { Customer, Stage } from './stage.ts'

interface Told {
  readonly event: string
  readonly data: Record<string, unknown>
}

/** A server with one service, its customer, and the events that its sessions receive. */
class App<S extends WsSession> {
  readonly sessions = new Inbox<S>()
  readonly told = new Inbox<Told>()
  readonly authorizations: (string | undefined)[] = []
  customer!: Customer
  #begin: (session: S) => void = () => undefined

  static async start<S extends WsSession>(stage: Stage, createEndpoint: CreateEndpoint<S>): Promise<App<S>> {
    const app = new App<S>()
    const server = createServer()
    const listening = await listenLocally(server)
    stage.closes(listening)
    const service = createEndpoint({ server })({ path: '/app' })
    service.on('session:new', (session, _path, request) => {
      app.authorizations.push(request?.headers.authorization)
      for (const event of ['call:status', 'verb:status', 'jambonz:error'])
        session.on(event, (data) => app.told.push({ event, data }))
      app.sessions.push(session)
      app.#begin(session)
    })
    const url = `${listening.url.replace('http:', 'ws:')}/app`
    const hook = { url, method: 'POST', username: 'app', password: 'secret' }
    app.customer = await stage.customer({ call: hook, status: hook })
    return app
  }

  /** Sets the handler of each new session. */
  begins(begin: (session: S) => void): void {
    this.#begin = begin
  }

  async hears(event: string, holds: (data: Record<string, unknown>) => boolean): Promise<Told> {
    return await this.told.next(event, (told) => told.event === event && holds(told.data))
  }

  get errors(): readonly Told[] {
    return this.told.items.filter(({ event }) => event === 'jambonz:error')
  }
}

const libraries: readonly (readonly [string, CreateEndpoint<WsSession>])[] = [
  ['@jambonz/node-client-ws', nodeClientWs.createEndpoint],
  ['@jambonz/sdk', sdkWebSocket.createEndpoint as CreateEndpoint<WsSession>],
]

export function webSocketApplications(stage: () => Stage): void {
  describe.each(libraries)('%s, WebSocket', (_name, createEndpoint) => {
    let app: App<WsSession>
    let phone: TalkingPhone
    const calls = (): Promise<Talk> => phone.call(stage().platform, app.customer)

    beforeAll(async () => {
      app = await App.start(stage(), createEndpoint)
      phone = await stage().phone()
    })

    it('a menu: the key that the caller presses arrives as an event, and the reply continues the call', async () => {
      const chosen = new Inbox<Record<string, unknown>>()
      app.begins((session) => {
        session.on('/choice', (event) => {
          chosen.push(event)
          session.say({ text: 'Thank you.' }).hangup().reply()
        })
        session
          .gather({
            input: ['digits'],
            numDigits: 1,
            timeout: 20,
            actionHook: '/choice',
            say: { text: 'Press one for sales, or two for support.' },
          })
          .hangup()
          .send()
      })
      const talk = await calls()
      await talk.hearsSpeech()
      talk.press('2')
      expect(await chosen.next('the choice', () => true)).toMatchObject({
        digits: '2',
        reason: 'dtmfDetected',
      })
      expect(await talk.end()).not.toBe('failed')
      await app.hears('call:status', ({ call_status }) => call_status === 'completed')
      expect(app.authorizations.at(-1)).toBe(`Basic ${Buffer.from('app:secret').toString('base64')}`)
      expect(app.errors).toEqual([])
    })

    it('verbs that are sent later replace the running ones, or follow them', async () => {
      app.begins((session) => session.answer().pause({ length: 60 }).send())
      const talk = await calls()
      const session = await until('the session', () => app.sessions.items.at(-1))
      session.say({ text: 'This comes at once.' }).pause({ length: 0.1 }).send()
      session.hangup().send({ execImmediate: false })
      await talk.hearsSpeech()
      expect(await talk.end()).not.toBe('failed')
      expect(app.errors).toEqual([])
    })

    it('a session connects two phones, mutes the caller by a command, and ends the call by another', async () => {
      const agent = await stage().phone()
      app.begins((session) => {
        session.on('/dialled', () => session.reply())
        session
          .dial({
            answerOnBridge: true,
            actionHook: '/dialled',
            target: [{ type: 'sip', sipUri: agent.uri }],
          })
          .send()
      })
      const ringing = agent.answers()
      const talk = await calls()
      const other = await ringing
      talk.says(400)
      await other.hears(400)
      const session = await until('the session', () => app.sessions.items.at(-1))
      session.injectCommand('mute:status', { mute_status: 'mute' })
      await until('silence', () => other.loudness < 0.01)
      session.injectCommand('mute:status', { mute_status: 'unmute' })
      await other.hears(400)
      session.injectCommand('call:status', { call_status: 'completed' })
      await Promise.all([talk.end(), other.end()])
      expect(app.errors).toEqual([])
    })
  })

  describe('@jambonz/sdk, commands over WebSocket', () => {
    let app: App<SdkSession>
    beforeAll(async () => {
      app = await App.start(stage(), sdkWebSocket.createEndpoint)
    })

    it('commands report the outcome of verbs, record the call, tag it and whisper', async () => {
      const srs = await RecordingServer.open()
      stage().closes(srs)
      const [caller, agent] = [await stage().phone(), await stage().phone()]
      app.begins((session) =>
        session
          .notifyEvents()
          .dial({ answerOnBridge: true, target: [{ type: 'sip', sipUri: agent.uri }] })
          .send(),
      )
      const ringing = agent.answers()
      const talk = await caller.call(stage().platform, app.customer)
      const other = await ringing
      talk.says(400)
      other.says(700)
      await Promise.all([talk.hears(700), other.hears(400)])
      await app.hears('verb:status', ({ event, name }) => event === 'starting' && name === 'dial')
      const session = await until('the session', () => app.sessions.items.at(-1))
      session.injectRecord('startCallRecording', { siprecServerURL: srs.uri, recordingID: 'r-9' })
      const recording = await srs.recording()
      await until('the caller in the recording', () => toneShare(recording.said(), 400) > 0.5)
      session.injectRecord('stopCallRecording')
      await recording.ended.next('the end of the recording', () => true)
      session.injectTag({ minute: 'last' })
      other.says(0)
      await until('the other to be silent', () => talk.loudness < 0.01)
      session.injectWhisper({ verb: 'say', text: 'One minute left.' })
      await talk.hearsSpeech()
      session.injectCommand('call:status', { call_status: 'completed' })
      await Promise.all([talk.end(), other.end()])
      const last = await app.hears('call:status', ({ call_status, parent_call_sid }) => {
        return call_status === 'completed' && parent_call_sid === undefined
      })
      expect(last.data).toMatchObject({ call_sid: session.callSid, customerData: { minute: 'last' } })
      expect(app.errors).toEqual([])
    })
  })
}
