// Users of a realm whose credentials a judge decides about: what the stack does with its judgement.
import { beforeEach, describe, expect, it } from 'vitest'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { createAuthenticator, type Authenticate } from './authenticator.ts'
import { answerChallenge } from './digest.ts'
import { createGuessLimit } from './guess-limit.ts'
import { responseTo } from '../message/build.ts'
import type { HeaderField, SipRequest } from '../message/message.ts'
import { createNonces } from './nonces.ts'
import type { Authentication, DigestQuestion, Judgement } from './directory.ts'
import type { Remote } from '../transport/transports.ts'

const remote: Remote = { transport: 'udp', address: '198.51.100.7', port: 40_000 }
const uri = 'sip:500@A.example'
const refusal: Judgement = {
  verdict: 'refused',
  code: 'not_permitted',
  reply: { status: 403, reason: 'Not today' },
  isGuess: true,
}

let clock: FakeClock
let authenticate: Authenticate
let judgement: Judgement
let asked: DigestQuestion[]
let lookedUp: string[]

beforeEach(() => {
  clock = createFakeClock()
  judgement = { verdict: 'accepted' }
  asked = []
  lookedUp = []
  authenticate = createAuthenticator({
    directory: {
      realmState: async () => 'active',
      findUser: async (_realm, username) => {
        lookedUp.push(username)
        return undefined
      },
      findPeer: async (realm, username) =>
        username === 'peer' ? { username, realm, password: 'of the peer', peer: 'p1' } : undefined,
      judgeOf: async (realm) =>
        realm === 'a.example'
          ? async (question) => {
              asked.push(question)
              return judgement
            }
          : undefined,
    },
    nonces: createNonces({ clock }),
    guesses: createGuessLimit(clock),
    algorithms: ['MD5'],
  })
})

function request(method: string, authorization: readonly HeaderField[] = []): SipRequest {
  const headers = [
    { name: 'from', value: '<sip:alice@a.example>;tag=1' },
    { name: 'to', value: '<sip:alice@a.example>' },
    ...authorization,
  ]
  return { kind: 'request', method, uri, body: new Uint8Array(), headers }
}

async function attempt(username = 'alice', password = 'any', method = 'INVITE'): Promise<Authentication> {
  const challenged = await authenticate(request(method), remote)
  if (challenged.verdict !== 'challenge') return challenged
  const response = responseTo(request(method), challenged.reply)
  const field = answerChallenge(response, { method, uri, credentials: { username, password } })
  return authenticate(request(method, field === undefined ? [] : [field]), remote)
}

describe('a judge', () => {
  it('that accepts decides alone: no password is looked up, and its statements are passed on', async () => {
    judgement = { verdict: 'accepted', seconds: 120, destination: 'app-1' }
    expect(await attempt('Alice')).toEqual({
      verdict: 'accepted',
      user: {
        username: 'Alice',
        realm: 'a.example',
        password: undefined,
        judged: { seconds: 120, destination: 'app-1' },
      },
    })
    expect(lookedUp).toEqual([])
    expect(asked[0]?.credentials).toMatchObject({ username: 'Alice', uri, algorithm: 'MD5' })
    expect([asked[0]?.remote, asked[0]?.request.method]).toEqual([remote, 'INVITE'])
  })

  it('is called only for a sender that receives at its address: the challenge comes first', async () => {
    expect((await authenticate(request('INVITE'), remote)).verdict).toBe('challenge')
    const stale = 'Digest username="a", realm="a.example", nonce="old", uri="sip:x", response="y"'
    const answered = await authenticate(request('INVITE', [{ name: 'authorization', value: stale }]), remote)
    expect(answered.verdict).toBe('challenge')
    expect(asked).toEqual([])
  })

  it('is not accepted twice for one response: the nonce is used up', async () => {
    const challenged = await authenticate(request('INVITE'), remote)
    if (challenged.verdict !== 'challenge') throw new Error(challenged.verdict)
    const response = responseTo(request('INVITE'), challenged.reply)
    const credentials = { username: 'alice', password: 'any' }
    const field = answerChallenge(response, { method: 'INVITE', uri, credentials })!
    expect((await authenticate(request('INVITE', [field]), remote)).verdict).toBe('accepted')
    expect((await authenticate(request('INVITE', [field]), remote)).verdict).toBe('challenge')
  })

  it('that refuses is answered in its own words, and its guesses count until the source is locked out', async () => {
    judgement = refusal
    const first = await attempt()
    expect(first).toEqual({
      verdict: 'refused',
      code: 'not_permitted',
      reply: { status: 403, reason: 'Not today' },
      isWorthRecord: true,
    })
    for (let count = 0; count < 9; count += 1) await attempt()
    const before = asked.length
    const locked = await attempt()
    expect(locked.verdict === 'refused' && locked.code).toBe('locked_out')
    expect(asked).toHaveLength(before)
    // Another user at the same place may still try.
    expect((await attempt('bob')).verdict).toBe('refused')
    expect(asked).toHaveLength(before + 1)
  })

  it('that does not judge the credentials locks no source out, however often it refuses', async () => {
    judgement = { ...refusal, isGuess: false }
    for (let count = 0; count < 30; count += 1) await attempt()
    expect(asked).toHaveLength(30)
    judgement = { verdict: 'accepted' }
    expect((await attempt()).verdict).toBe('accepted')
  })

  it('that does not judge the credentials is worth a record, but no more than a realm has in an hour', async () => {
    judgement = { ...refusal, isGuess: false }
    const isWorth = async (): Promise<boolean> => {
      const result = await attempt()
      return result.verdict === 'refused' && result.isWorthRecord
    }
    const worth: boolean[] = []
    for (let count = 0; count < 61; count += 1) worth.push(await isWorth())
    expect(worth.indexOf(false)).toBe(60)
    clock.advance(3_600_000)
    expect(await isWorth()).toBe(true)
  })

  it('does not affect a peer of that name, which has a password of its own', async () => {
    judgement = refusal
    const result = await attempt('peer', 'of the peer')
    expect(result.verdict === 'accepted' && result.user.peer).toBe('p1')
    expect((await attempt('peer', 'of the peer', 'REGISTER')).verdict).toBe('refused')
  })
})
