// When a client goes away, the work for it alone ends: the server that the platform was requesting sees the connection
// close, nothing is stored, and nothing is logged as a failure. Over real sockets.
import { systemClock } from '../lib/clock.ts'
import { ThreadTime } from '../lib/bounds/thread-time.ts'
import { request as httpRequest, type ClientRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestApi, type TestApi } from '../../test/support/api.ts'
import { serveLocally, type LocalServer } from '../../test/support/local-http.ts'
import { Inbox } from '../../test/support/wait.ts'
import { serveWebSockets } from '../../test/support/web-socket.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { createLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import { createAppEnv } from '../webhooks/create-app-env.ts'

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly status?: number
  readonly outcome?: string
}

const goneLine = 'client went away'
// Pino's number for errors.
const errorLevel = 50
const requests = new Inbox<'asked' | 'closed'>()
let lines = new Inbox<LogLine>()
let api: TestApi
let outgoing: Outgoing
// Set by a test that watches a change being made.
let beforeChange = async (): Promise<void> => {}
let silent: LocalServer
let silentSocket: LocalServer

beforeAll(async () => {
  const log = createLogger('debug', { write: (line) => lines.push(JSON.parse(line) as LogLine) })
  // No request runs into a time limit: only leaving ends it.
  outgoing = createOutgoing({ allow: ['127.0.0.0/8'], clock: createFakeClock(), log })
  api = await openTestApi({
    log,
    appEnv: createAppEnv({ outgoing, threadTime: new ThreadTime({ clock: systemClock }) }),
    wrapStorage: (storage) => ({
      ...storage,
      boundTo(behalf) {
        const bound = storage.boundTo(behalf)
        return {
          ...bound,
          transaction: (tenancy, work) => beforeChange().then(() => bound.transaction(tenancy, work)),
        }
      },
    }),
  })
  await api.http.start()
  silent = await serveLocally((_request, response) => {
    requests.push('asked')
    response.on('close', () => requests.push('closed'))
  })
  silentSocket = await serveWebSockets({
    open({ request }) {
      requests.push('asked')
      request.socket.on('close', () => requests.push('closed'))
    },
  })
})
afterAll(async () => {
  await api.close()
  await outgoing.close()
  await silent.close()
  await silentSocket.close()
})
beforeEach(() => {
  requests.items.length = 0
  beforeChange = async () => {}
  lines = new Inbox()
})

// The number of earlier log lines.
let askedAt = 0

function ask(method: string, path: string, body?: unknown): ClientRequest {
  askedAt = lines.items.length
  const { port } = api.http.address
  const headers = { authorization: `Bearer ${api.own.accountKey}`, 'content-type': 'application/json' }
  const request = httpRequest({ host: '127.0.0.1', port, method, path: `/v1${path}`, headers, agent: false })
  request.on('error', () => {})
  request.end(body === undefined ? undefined : JSON.stringify(body))
  return request
}

/** Sends a request, and hangs up once it has reached the other server; resolves at the request's end. */
async function askAndLeave(method: string, path: string, body?: unknown): Promise<void> {
  const request = ask(method, path, body)
  await requests.next('the other side to be asked', (what) => what === 'asked')
  request.destroy()
  await requests.next('the other side to see its connection close', (what) => what === 'closed')
  await theEnd('given up')
}

async function theEnd(outcome: 'given up' | 'carried through'): Promise<void> {
  const line = await lines.next('the end of the request', ({ msg }) => msg === goneLine, { from: askedAt })
  expect(line).toMatchObject({ status: 499, outcome })
}

/** Sends a change, and resolves when it is being made and its client has gone. */
async function changeAndLeave(method: string, path: string, body?: unknown): Promise<void> {
  const reached = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  beforeChange = () => {
    reached.resolve()
    return left.promise
  }
  const request = ask(method, path, body)
  await reached.promise
  const { socket } = request
  const closed = new Promise((resolve) => socket?.on('close', resolve))
  socket?.end()
  // The server has closed its end too. By its next response it has handled that.
  await closed
  await fetch(`http://127.0.0.1:${api.http.address.port}/health`)
  left.resolve()
  await theEnd('carried through')
}

const credentials = (): string => `/Accounts/${api.own.account_sid}/SpeechCredentials`

async function makeCredential(body: object): Promise<string> {
  const answer = await api.post(credentials(), api.own.accountKey, body)
  expect(answer.status, answer.text).toBe(201)
  return `${credentials()}/${(answer.body as { sid: string }).sid}`
}

function expectNoFailureOfOurs(): void {
  expect(lines.items.filter(({ level }) => level >= errorLevel)).toEqual([])
}

describe('a client that goes away', () => {
  it.each([
    ['speaking', () => ({ vendor: 'deepgram', api_key: 'k', deepgram_tts_uri: silent.url, use_for_stt: 0 })],
    [
      'listening, over a WebSocket',
      () => ({ vendor: 'custom:mine', custom_stt_url: silentSocket.url, use_for_tts: 0 }),
    ],
  ] as const)('ends the test of a credential by %s, which then has no result', async (_how, credential) => {
    const path = await makeCredential(credential())
    await askAndLeave('GET', `${path}/test`)
    expectNoFailureOfOurs()
    expect((await api.get(path, api.own.accountKey)).body).toMatchObject({
      last_tested: null,
      tts_tested_ok: null,
      stt_tested_ok: null,
    })
  })

  it('ends the question for a vendor’s voices', async () => {
    await makeCredential({ vendor: 'elevenlabs', api_key: 'k', model_id: 'm', api_uri: silent.url })
    await askAndLeave('GET', `${credentials()}/speech/supportedLanguagesAndVoices?vendor=elevenlabs`)
    expectNoFailureOfOurs()
  })

  it('ends what it wants to hear', async () => {
    const credential = { vendor: 'deepgram', label: 'to hear', api_key: 'k', deepgram_tts_uri: silent.url }
    const speech_credential_sid = (await makeCredential(credential)).split('/').at(-1)
    const wish = { speech_credential_sid, text: 'Hello.', language: 'en-US', voice: 'aura-2-thalia-en' }
    await askAndLeave('POST', `/Accounts/${api.own.account_sid}/TtsCache/Synthesize`, wish)
    expectNoFailureOfOurs()
  })

  it('ends the question for an application’s variables', async () => {
    await askAndLeave('GET', `/AppEnv?url=${encodeURIComponent(silent.url)}`)
    expectNoFailureOfOurs()
  })

  it('ends the check of variables, and the application is not made', async () => {
    const hook = { url: silent.url }
    const application = { name: 'gone', call_hook: hook, call_status_hook: hook, env_vars: { a: 1 } }
    await askAndLeave('POST', '/Applications', { ...application, account_sid: api.own.account_sid })
    expectNoFailureOfOurs()
    expect((await api.get('/Applications?name=gone', api.own.accountKey)).body).toEqual([])
  })

  it('in the middle of its body is no failure, known or not', async () => {
    askedAt = lines.items.length
    const { port } = api.http.address
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    const head = [
      'POST /v1/login HTTP/1.1',
      'host: a',
      'content-type: application/json',
      'content-length: 100',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n{"user`)
    // Responded to after everything sent before it: the head has been read by then.
    await fetch(`http://127.0.0.1:${port}/health`)
    socket.resetAndDestroy()
    await theEnd('given up')
    expectNoFailureOfOurs()
  })
})

describe('a change whose client goes away', () => {
  const hook = { url: 'https://app.example.com/' }
  const names = async (): Promise<string[]> => {
    const { body } = await api.get('/Applications', api.own.accountKey)
    return (body as { name: string }[]).map(({ name }) => name)
  }

  it('is made all the same', async () => {
    const { account_sid } = api.own
    const made = { name: 'made', account_sid, call_hook: hook, call_status_hook: hook }
    await changeAndLeave('POST', '/Applications', made)
    expect(await names()).toEqual(['made'])
    const [row] = (await api.get('/Applications', api.own.accountKey)).body as { application_sid: string }[]
    await changeAndLeave('PUT', `/Applications/${row?.application_sid}`, { name: 'changed' })
    expect(await names()).toEqual(['changed'])
    await changeAndLeave('DELETE', `/Applications/${row?.application_sid}`)
    expect(await names()).toEqual([])
    expectNoFailureOfOurs()
  })
})
