import { beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.ts'
import { AppError } from '../lib/errors.ts'
import { createRegistrationHook } from './registration-hook.ts'
import type { DigestQuestion, Judge } from '../sip/sip.ts'
import type { HookRequest } from '../contracts/hook.ts'

const hook = { url: 'http://app.test/register', method: 'POST', username: null, password: null } as const

let clock: FakeClock
let asked: HookRequest[]
let pending: ((body: unknown) => void)[]
let failure: AppError | undefined
let judge: Judge

beforeEach(async () => {
  clock = createFakeClock()
  asked = []
  pending = []
  failure = undefined
  const judgeOf = createRegistrationHook({
    hookOf: async (realm) => (realm === 'hooked.test' ? { account_sid: 'a1', hook } : undefined),
    hooks: {
      async ask(request) {
        asked.push(request)
        if (failure !== undefined) throw failure
        const body = await new Promise<unknown>((resolve) => pending.push(resolve))
        return { url: hook.url, status: 200, durationMs: 1, attempts: 1, body }
      },
    },
    alerts: { raise: () => undefined },
    clock,
  })
  judge = (await judgeOf('hooked.test'))!
  expect(await judgeOf('plain.test')).toBeUndefined()
})

function question(username: string, nc = '00000001'): DigestQuestion {
  return {
    request: {
      kind: 'request',
      method: 'REGISTER',
      uri: 'sip:hooked.test',
      headers: [{ name: 'expires', value: '60' }],
      body: new Uint8Array(),
    },
    remote: { transport: 'udp', address: '192.0.2.1', port: 5060 },
    credentials: {
      algorithm: 'MD5',
      username,
      realm: 'hooked.test',
      uri: 'sip:hooked.test',
      nonce: 'n',
      response: nc,
      qop: { cnonce: 'c', nc },
    },
  }
}

const answerAll = (body: unknown): void => pending.splice(0).forEach((answer) => answer(body))

describe('the registration hook', () => {
  it('is asked once of a request that is repeated while it thinks, and shortly after it has accepted', async () => {
    const first = judge(question('bob'))
    const second = judge(question('bob'))
    answerAll({ status: 'ok', expires: 90 })
    const accepted = { verdict: 'accepted', seconds: 90 }
    expect(await Promise.all([first, second])).toEqual([accepted, accepted])
    expect(await judge(question('bob'))).toEqual(accepted)
    expect(asked).toHaveLength(1)
    clock.advance(33_000)
    const later = judge(question('bob'))
    answerAll({ status: 'ok' })
    expect(await later).toEqual({ verdict: 'accepted' })
    expect(asked).toHaveLength(2)
  })

  it('is asked again of what it has refused', async () => {
    const first = judge(question('bob'))
    answerAll({ status: 'no' })
    expect(await first).toMatchObject({ verdict: 'refused', code: 'wrong_credentials', isGuess: true })
    const second = judge(question('bob'))
    answerAll({ status: 'ok' })
    expect(await second).toMatchObject({ verdict: 'accepted' })
  })

  it('looks at three guesses of one user at once, and at 100 of a realm; others are asked to come again', async () => {
    const guesses = Array.from({ length: 5 }, (_, index) => judge(question('bob', `0000000${index}`)))
    expect(asked).toHaveLength(3)
    expect(await guesses[4]).toMatchObject({ verdict: 'refused', code: 'overloaded', isGuess: false })
    const others = Array.from({ length: 100 }, (_, index) => judge(question(`user${index}`)))
    expect(asked).toHaveLength(100)
    expect(await others[99]).toMatchObject({ code: 'overloaded' })
    answerAll({ status: 'no' })
    await Promise.all([...guesses, ...others])
    const next = judge(question('bob', '0000000a'))
    answerAll({ status: 'ok' })
    expect(await next).toMatchObject({ verdict: 'accepted' })
  })

  it.each([
    [401, 403, false],
    [403, 403, true],
    [404, 404, false],
    [423, 423, false],
    [408, 503, false],
    [429, 503, false],
    [500, 503, false],
    [302, 503, false],
  ])('that refuses with the HTTP status %s is passed on as %s', async (http, status, isGuess) => {
    failure = new AppError('hook_bad_status', `the hook answered with status ${http}`, {
      detail: { status: http },
    })
    const judgement = await judge(question('bob'))
    expect(judgement).toMatchObject({ verdict: 'refused', reply: { status }, isGuess })
    const headers = 'reply' in judgement ? (judgement.reply.headers ?? []) : []
    expect(headers.some(({ name }) => name === 'retry-after')).toBe(status === 503)
  })

  it.each([
    ['REGISTER', '60', '<sip:bob@192.0.2.1>', 60],
    ['REGISTER', undefined, '<sip:bob@192.0.2.1>;expires=300', 300],
    ['REGISTER', '60', '"B, ob" <sip:bob@192.0.2.1>;expires=0, <sip:bob@192.0.2.2>;expires=90', 0],
    ['REGISTER', '60', '<sip:bob@192.0.2.1>;expires=soon', null],
    ['REGISTER', '0', '*', 0],
    ['REGISTER', undefined, '<sip:bob@192.0.2.1>', null],
    ['INVITE', undefined, '<sip:bob@192.0.2.1>;expires=300', null],
    ['INVITE', '120', '<sip:bob@192.0.2.1>', 120],
  ])(
    'gets of a %s with Expires %s and Contact %s the lifetime %s',
    async (method, header, contact, expires) => {
      const asking = question('bob')
      const headers = [
        { name: 'contact', value: contact },
        ...(header === undefined ? [] : [{ name: 'expires', value: header }]),
      ]
      const judgement = judge({ ...asking, request: { ...asking.request, method, headers } })
      expect(asked[0]!.payload).toMatchObject({ method, expires })
      answerAll({ status: 'ok' })
      await judgement
    },
  )

  it('that cannot be reached lets phones try again', async () => {
    failure = new AppError('hook_unreachable', 'the hook cannot be reached')
    expect(await judge(question('bob'))).toMatchObject({ reply: { status: 503 }, isGuess: false })
  })
})
