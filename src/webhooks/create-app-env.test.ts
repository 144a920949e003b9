import { createFakeClock } from '../../test/support/fake-clock.ts'
import { until } from '../../test/support/wait.ts'
import { actingFor } from '../lib/acting-for.ts'
import { systemClock } from '../lib/clock.ts'
import { ThreadTime } from '../lib/bounds/thread-time.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { startReceiver, type Receiver, type Reply } from '../../test/support/local-http.ts'
import { silentLogger } from '../lib/log.ts'
import { createOutgoing } from '../outgoing/create-outgoing.ts'
import { schemaFault, valuesFault, type AppEnvSchema } from './app-env.ts'
import { createAppEnv } from './create-app-env.ts'

const variable = { type: 'string', description: 'What is said first.' }
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function application(reply: Reply): Promise<Receiver> {
  const receiver = await startReceiver(() => reply)
  closing.push(() => receiver.close())
  return receiver
}

function appEnv(allow = ['127.0.0.0/8']) {
  const outgoing = createOutgoing({ allow, log: silentLogger })
  closing.push(() => outgoing.close())
  return createAppEnv({ outgoing, threadTime: new ThreadTime({ clock: systemClock }) })
}

describe('asking an application', () => {
  it('sends one unsigned OPTIONS that accepts JSON, and hands on the schema with all its members', async () => {
    const schema = { greeting: { ...variable, uiHint: 'textarea' } }
    const receiver = await application({ body: JSON.stringify(schema) })
    expect(await appEnv().ask(`${receiver.url}/call?a=1#rc=3`)).toEqual({ outcome: 'schema', schema })
    expect(receiver.received).toHaveLength(1)
    expect(receiver.received[0]).toMatchObject({ method: 'OPTIONS', path: '/call?a=1', body: '' })
    expect(receiver.received[0]?.headers).toMatchObject({ accept: 'application/json' })
    expect(JSON.stringify(receiver.received[0]?.headers)).not.toMatch(/signature|authorization/i)
  })

  it('asks a WebSocket application over HTTP', async () => {
    const receiver = await application({ body: JSON.stringify({ a: variable }) })
    const url = receiver.url.replace('http:', 'ws:')
    expect(await appEnv().ask(url)).toMatchObject({ outcome: 'schema' })
  })

  it.each<[string, Reply]>([
    ['answers 404', { status: 404, body: '{}' }],
    ['answers 204', { status: 204 }],
    ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
    ['answers text', { body: 'hello' }],
    ['answers more than is read', { body: JSON.stringify({ a: { ...variable, x: 'x'.repeat(300_000) } }) }],
  ])('finds nothing when it %s', async (_title, reply) => {
    const receiver = await application(reply)
    expect(await appEnv().ask(receiver.url)).toEqual({ outcome: 'none' })
    expect(receiver.received).toHaveLength(1)
  })

  it('is given up where the account has taken so much time meanwhile that the answer is read too late', async () => {
    const clock = createFakeClock()
    let ms = 0
    const threadTime = new ThreadTime({ clock, measure: () => ms })
    const receiver = await startReceiver(() => {
      threadTime.charge('a', () => void (ms += 10_000))
      return { body: JSON.stringify({ a: variable }) }
    })
    const outgoing = createOutgoing({ allow: ['127.0.0.0/8'], log: silentLogger })
    closing.push(
      () => receiver.close(),
      () => outgoing.close(),
    )
    const asking = actingFor('a', () => createAppEnv({ outgoing, threadTime }).ask(receiver.url)).catch(
      (error: unknown) => error,
    )
    await until('the answer to wait for its turn', () => clock.pending > 0)
    clock.advance(5000)
    expect(await asking).toMatchObject({ code: 'account_share' })
  })

  it('finds nothing at an address that is refused or where no server listens', async () => {
    const receiver = await application({ body: JSON.stringify({ a: variable }) })
    expect(await appEnv([]).ask(receiver.url)).toEqual({ outcome: 'none' })
    expect(receiver.received).toHaveLength(0)
    await receiver.close()
    expect(await appEnv().ask(receiver.url)).toEqual({ outcome: 'none' })
  })

  it('stops when no client waits any more', async () => {
    const receiver = await application({ hangs: true })
    const controller = new AbortController()
    const asked = appEnv().ask(receiver.url, controller.signal)
    await receiver.arrived(1)
    controller.abort()
    await expect(asked).rejects.toThrow(/abort/)
  })
})

describe('a published schema', () => {
  it.each([
    [[], 'JSON object'],
    [null, 'JSON object'],
    [{}, 'no variable'],
    [{ 'a-b': variable }, 'a-b'],
    [{ a: 5 }, 'not an object'],
    [{ a: { type: 'object', description: '' } }, 'type'],
    [{ a: { type: 'string' } }, 'description'],
    [{ a: { ...variable, required: 'yes' } }, 'required'],
    [{ a: { ...variable, default: {} } }, 'default'],
    [{ a: { ...variable, enum: 'a' } }, 'enum'],
    [{ a: { ...variable, obscure: 1 } }, 'obscure'],
  ])('%j is refused: %s', (published, fault) => {
    expect(schemaFault(published)).toContain(fault)
  })

  it('may carry members of its own', () => {
    expect(
      schemaFault({ a_1: { ...variable, required: true, enum: ['x'], default: 'x', uiHint: 'input' } }),
    ).toBeUndefined()
  })

  it('cannot smuggle a line break or a long text into a message', () => {
    expect(schemaFault({ [`a\r\n${'x'.repeat(1000)}`]: variable })).toMatch(/^[^\r\n]{1,200}$/)
  })
})

describe('values held against a schema', () => {
  const schema: AppEnvSchema = {
    greeting: { type: 'string', description: '', required: true },
    retries: { type: 'number', description: '', enum: [1, 2] },
    loud: { type: 'boolean', description: '' },
  }

  it.each([
    [{ greeting: 'hi' }, undefined],
    [{ greeting: 'hi', retries: 2, loud: false, other: [1] }, undefined],
    [{}, 'greeting is required by the application'],
    [{ greeting: null }, 'greeting is required by the application'],
    [{ greeting: 5 }, 'greeting must be text'],
    [{ greeting: 'hi', retries: '2' }, 'retries must be a number'],
    [{ greeting: 'hi', retries: 3 }, 'retries must be one of 1, 2'],
    [{ greeting: 'hi', loud: 1 }, 'loud must be true or false'],
  ])('%j: %s', (values, fault) => {
    expect(valuesFault(schema, values)).toBe(fault)
  })

  it('takes nothing from the prototype of the values', () => {
    const required = { toString: { type: 'string', description: '', required: true } } as const
    expect(valuesFault(required as never, {})).toContain('toString is required')
  })
})
