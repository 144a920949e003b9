import { beforeEach, describe, expect, it } from 'vitest'
import { reasonFields } from '../../../test/support/reason-fields.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { createAuthenticator, type Authenticate } from './authenticator.ts'
import { answerChallenge } from './digest.ts'
import { createGuessLimit } from './guess-limit.ts'
import { responseTo } from '../message/build.ts'
import { headersOf, type HeaderField, type SipRequest, type SipResponse } from '../message/message.ts'
import { createNonces } from './nonces.ts'
import type { Authentication } from './directory.ts'
import type { Remote } from '../transport/transports.ts'

const remote: Remote = { transport: 'udp', address: '198.51.100.7', port: 40_000 }
const edge: Remote = { transport: 'udp', address: '203.0.113.5', port: 5060 }
const uri = 'sip:500@a.example'
const from = '"Alice" <sip:alice@a.example>;tag=1'

let clock: FakeClock
let authenticate: Authenticate

beforeEach(() => {
  clock = createFakeClock()
  authenticate = createAuthenticator({
    directory: {
      realmState: async (realm) => (realm === 'off.example' ? 'inactive' : 'active'),
      findUser: async (realm, username) =>
        username === 'unknown' || username === 'peer-alone'
          ? undefined
          : { username, realm, password: 'right' },
      findPeer: async (realm, username) =>
        username.startsWith('peer-') ? { username, realm, password: 'of the peer', peer: 'p1' } : undefined,
    },
    nonces: createNonces({ clock }),
    guesses: createGuessLimit(clock),
    isProxy: (address) => address === edge.address,
    algorithms: ['MD5'],
  })
})

function invite(authorization: readonly HeaderField[] = [], to = uri): SipRequest {
  return {
    kind: 'request',
    method: 'INVITE',
    uri: to,
    body: new Uint8Array(),
    headers: [{ name: 'from', value: from }, { name: 'to', value: `<${to}>` }, ...authorization],
  }
}

async function challenge(from = remote, more: readonly HeaderField[] = []): Promise<SipResponse> {
  const asked = await authenticate(invite(more), from)
  if (asked.verdict !== 'challenge') throw new Error(`not challenged but ${asked.verdict}`)
  return responseTo(invite(), asked.reply)
}

async function attempt(
  username: string,
  password: string,
  from = remote,
  more: readonly HeaderField[] = [],
): Promise<Authentication> {
  return answer(await challenge(from, more), username, password, from, more)
}

function answer(
  to: SipResponse,
  username: string,
  password: string,
  from = remote,
  more: readonly HeaderField[] = [],
): Promise<Authentication> {
  const field = answerChallenge(to, { method: 'INVITE', uri, credentials: { username, password } })
  if (field === undefined) throw new Error('the challenge cannot be met')
  return authenticate(invite([field, ...more]), from)
}

const wordOf = (result: Authentication): string =>
  result.verdict === 'refused' ? result.code : result.verdict

describe('a peer', () => {
  it.each([
    ['peer-alone', 'of the peer', { peer: 'p1' }],
    ['peer-and-user', 'of the peer', { peer: 'p1' }],
    ['peer-and-user', 'right', {}],
  ])('named %s who calls with the password "%s" is known by it', async (username, password, known) => {
    expect(await attempt(username, password)).toEqual({
      verdict: 'accepted',
      user: { username, realm: 'a.example', password, ...known },
    })
  })

  it('does not register', async () => {
    const to = await challenge()
    const credentials = { username: 'peer-alone', password: 'of the peer' }
    const field = answerChallenge(to, { method: 'REGISTER', uri, credentials })
    const register = { ...invite(field === undefined ? [] : [field]), method: 'REGISTER' }
    expect(wordOf(await authenticate(register, remote))).toBe('wrong_credentials')
  })
})

describe('a user name with the realm of the request', () => {
  const send = async (username: string, hashedAs: string, password = 'right'): Promise<Authentication> => {
    const field = answerChallenge(await challenge(), {
      method: 'INVITE',
      uri,
      credentials: { username: hashedAs, password },
    })
    const value = field?.value.replace(`username="${hashedAs}"`, `username="${username}"`) ?? ''
    return authenticate(invite([{ name: 'authorization', value }]), remote)
  }

  it.each(['alice', 'alice@a.example', 'alice@A.Example'])(
    'is that of the user, hashed as %s',
    async (hashedAs) => {
      const name = hashedAs === 'alice' ? 'alice@a.example' : hashedAs
      expect(await send(name, hashedAs)).toMatchObject({
        verdict: 'accepted',
        user: { username: 'alice', realm: 'a.example' },
      })
    },
  )

  it.each([
    ['alice@b.example', 'alice', 'right'],
    ['alice@a.example', 'bob', 'right'],
    ['alice@a.example', 'alice', 'wrong'],
    ['unknown@a.example', 'unknown', 'right'],
    ['peer-alone@a.example', 'peer-alone', 'right'],
  ])('as %s, hashed as %s with the password %s, proves nothing', async (name, hashedAs, password) => {
    expect(wordOf(await send(name, hashedAs, password))).toBe('wrong_credentials')
  })

  it('is locked out together with the user alone, and finds peers by it', async () => {
    expect(wordOf(await send('peer-alone@a.example', 'peer-alone', 'of the peer'))).toBe('accepted')
    for (let count = 0; count < 5; count++) {
      await send('bob@a.example', 'bob', `guess ${count}`)
      await attempt('bob', `guess ${count}`)
    }
    expect(wordOf(await attempt('bob', 'right'))).toBe('locked_out')
    expect(wordOf(await send('bob@a.example', 'bob@a.example'))).toBe('locked_out')
  })
})

describe('a digest-uri that differs from the Request-URI', () => {
  const credentials = { username: 'alice', password: 'right' }
  const send = async (digestUri: string, password = 'right', method = 'INVITE'): Promise<Authentication> => {
    const to = await challenge()
    const field = answerChallenge(to, { method, uri: digestUri, credentials: { ...credentials, password } })
    return authenticate(invite(field === undefined ? [] : [field]), remote)
  }

  it.each([
    'sip:a.example',
    'sip:203.0.113.4:5060',
    'sip:501@a.example',
    'sip:501@b.example',
    'tel:+1500',
    'a.example',
  ])('is accepted with a right response for it, and noted: %s', async (digestUri) => {
    const result = await send(digestUri)
    expect(wordOf(result)).toBe('accepted')
    expect(result).toHaveProperty('note', `the digest was computed for ${digestUri}, not for the Request-URI`)
  })

  it.each([uri, 'sip:500@A.example:5060;transport=udp'])('is not seen in %s', async (digestUri) => {
    expect(await send(digestUri)).not.toHaveProperty('note')
  })

  it('never counts as a guess', async () => {
    for (let count = 0; count < 30; count++) expect(wordOf(await send('sip:other.example'))).toBe('accepted')
  })

  it('makes no wrong password right, nor a response for another method', async () => {
    expect(wordOf(await send('sip:other.example', 'wrong'))).toBe('wrong_credentials')
    expect(wordOf(await send('sip:other.example', 'right', 'REGISTER'))).toBe('wrong_credentials')
  })

  it('lets no response be used twice, for whichever Request-URI', async () => {
    const to = await challenge()
    const field = answerChallenge(to, { method: 'INVITE', uri: 'sip:a.example', credentials })
    const authorization = field === undefined ? [] : [field]
    expect(wordOf(await authenticate(invite(authorization), remote))).toBe('accepted')
    const others = ['sip:500@a.example', 'sip:900@a.example']
    for (const other of others)
      expect(wordOf(await authenticate(invite(authorization, other), remote))).toBe('challenge')
  })
})

describe('guessing passwords', () => {
  it.each(['alice', 'unknown'])(
    'of %s ends after ten failures from one source, with 403 and a reason',
    async (name) => {
      for (let count = 0; count < 10; count++)
        expect(wordOf(await attempt(name, `guess ${count}`))).toBe('wrong_credentials')
      const eleventh = await attempt(name, 'right')
      expect(eleventh).toMatchObject({
        code: 'locked_out',
        reply: {
          status: 403,
          headers: reasonFields('locked_out', expect.stringContaining('Too many failed')),
        },
      })
    },
  )

  it('leaves the other phones of the same address alone, and the user elsewhere', async () => {
    for (let count = 0; count < 12; count++) await attempt('alice', 'wrong')
    expect(wordOf(await attempt('bob', 'right'))).toBe('accepted')
    expect(wordOf(await attempt('alice', 'right', { ...remote, address: '198.51.100.8' }))).toBe('accepted')
  })

  it('through an edge counts at the address that the edge names', async () => {
    const through = (address: string, password: string): Promise<Authentication> => {
      const named = { name: 'x-forwarded-for', value: address }
      return attempt('alice', password, edge, [named])
    }
    expect(wordOf(await through('198.51.100.7', 'right'))).toBe('accepted')
    for (let count = 0; count < 12; count++) await through('198.51.100.66', 'wrong')
    expect(wordOf(await through('198.51.100.66', 'right'))).toBe('locked_out')
    expect(wordOf(await through('198.51.100.7', 'right'))).toBe('accepted')
    // A nonce that one address has fetched counts no guess at another.
    const named = (address: string) => [{ name: 'x-forwarded-for', value: address }]
    const fetched = await challenge(edge, named('198.51.100.66'))
    const forged = await answer(fetched, 'alice', 'wrong', edge, named('198.51.100.7'))
    expect(wordOf(forged)).toBe('challenge')
  })

  it('is forgiven within a minute of the last failure', async () => {
    for (let count = 0; count < 10; count++) await attempt('alice', 'wrong')
    expect(wordOf(await attempt('alice', 'right'))).toBe('locked_out')
    clock.advance(60_000)
    expect(wordOf(await attempt('alice', 'right'))).toBe('accepted')
  })

  it('is counted one by one when it comes all at once', async () => {
    const challenges = await Promise.all(Array.from({ length: 50 }, () => challenge()))
    const results = await Promise.all(challenges.map((asked) => answer(asked, 'alice', 'wrong')))
    expect(results.filter((result) => wordOf(result) === 'wrong_credentials')).toHaveLength(10)
  })

  it('never counts requests without credentials', async () => {
    for (let count = 0; count < 300; count++) await challenge()
    expect(wordOf(await attempt('alice', 'right'))).toBe('accepted')
  })

  it('tells nothing without a fresh nonce: right and wrong passwords are challenged alike, as stale', async () => {
    const old = await challenge()
    clock.advance(60_001)
    for (const password of ['right', 'wrong']) {
      const result = await answer(old, 'alice', password)
      const reply = result.verdict === 'challenge' ? result.reply : { status: 0 }
      expect(headersOf(responseTo(invite(), reply), 'www-authenticate')).toEqual([
        expect.stringMatching(/stale=true/i),
      ])
    }
    expect(wordOf(await attempt('alice', 'right'))).toBe('accepted')
  })

  it('over many names ends after 50 failures of a source that was never right, and costs no phone elsewhere', async () => {
    const words: string[] = []
    for (let count = 0; count < 60; count++) words.push(wordOf(await attempt(`user${count}`, 'wrong')))
    expect(words.filter((word) => word === 'wrong_credentials')).toHaveLength(50)
    expect(words.at(-1)).toBe('locked_out')
    expect(wordOf(await attempt('alice', 'right', { ...remote, address: '198.51.100.8' }))).toBe('accepted')
  })

  it('locks no phone out that shares its address with the one who guesses', async () => {
    expect(wordOf(await attempt('alice', 'right'))).toBe('accepted')
    for (let count = 0; count < 250; count++) await attempt(`user${count}`, 'wrong')
    expect(wordOf(await attempt('user1', 'right'))).toBe('locked_out')
    expect(wordOf(await attempt('alice', 'right'))).toBe('accepted')
  })

  it('with a nonce that was fetched elsewhere is answered with a new one, and never counted', async () => {
    const fetched = await Promise.all(Array.from({ length: 30 }, () => challenge()))
    const victim = { ...remote, address: '198.51.100.8' }
    for (const nonce of fetched) {
      const result = await answer(nonce, 'alice', 'wrong', victim)
      expect(wordOf(result)).toBe('challenge')
      const reply = result.verdict === 'challenge' ? result.reply : { status: 0 }
      expect(headersOf(responseTo(invite(), reply), 'www-authenticate')[0]).toMatch(/stale=true/)
    }
    expect(wordOf(await attempt('alice', 'right', victim))).toBe('accepted')
  })

  it('takes the answer of a phone whose NAT has changed its port meanwhile', async () => {
    const asked = await challenge()
    expect(wordOf(await answer(asked, 'alice', 'right', { ...remote, port: 40_001 }))).toBe('accepted')
  })
})

describe('a request that proves nothing', () => {
  it.each(['Digest', 'Digest username="alice"', 'Digest realm="a.example", nonce', 'Basic YWxpY2U6cmlnaHQ='])(
    'with "Authorization: %s" is challenged with a fresh nonce, once',
    async (value) => {
      const result = await authenticate(invite([{ name: 'authorization', value }]), remote)
      expect(result).toMatchObject({ verdict: 'challenge', reply: { status: 401, isUnproven: true } })
      const reply = result.verdict === 'challenge' ? result.reply : { status: 0 }
      const to = responseTo(invite(), reply)
      expect(headersOf(to, 'www-authenticate')[0]).not.toMatch(/stale/)
      expect(wordOf(await answer(to, 'alice', 'right'))).toBe('accepted')
    },
  )

  it('to an account that is switched off is refused once each time, and recorded 60 times an hour from wherever it comes', async () => {
    const results: Authentication[] = []
    for (let count = 0; count < 300; count++) {
      const from = { ...remote, address: `203.0.113.${count % 256}` }
      results.push(await authenticate({ ...invite(), uri: 'sip:500@off.example' }, from))
    }
    for (const result of results)
      expect(result).toMatchObject({
        code: 'account_inactive',
        reply: {
          status: 503,
          isUnproven: true,
          headers: reasonFields('account_inactive', 'Account exists but is inactive'),
        },
      })
    const recorded = results.filter((result) => result.verdict === 'refused' && result.isWorthRecord)
    expect(recorded).toHaveLength(60)
  })
})
