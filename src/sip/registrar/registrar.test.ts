import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { createFakeClock, type FakeClock } from '../../../test/support/fake-clock.ts'
import { createAuthenticator } from '../auth/authenticator.ts'
import { answerChallenge } from '../auth/digest.ts'
import { createGuessLimit } from '../auth/guess-limit.ts'
import { responseTo } from '../message/build.ts'
import {
  headerOf,
  headersOf,
  type HeaderField,
  type SipRequest,
  type SipResponse,
} from '../message/message.ts'
import { createNonces } from '../auth/nonces.ts'
import type { Remote } from '../transport/transports.ts'
import type { SipDirectory } from '../auth/directory.ts'
import { createBindings, type Bindings } from './bindings.ts'
import { createRegistrar, type Register } from './registrar.ts'
import { silentLogger } from '../../lib/log.ts'

const remote: Remote = { transport: 'udp', address: '198.51.100.7', port: 40_000 }
const contact = 'sip:alice@10.0.0.5:5060'
const credentials = { username: 'alice', password: 'secret' }
const directory: SipDirectory = {
  async realmState(realm) {
    if (realm === 'a.example') return 'active'
    return realm === 'off.example' ? 'inactive' : 'unknown'
  },
  async findUser(realm, username) {
    return username === 'alice' || username === 'bob' ? { username, realm, password: 'secret' } : undefined
  },
}

let clock: FakeClock
let bindings: Bindings
let register: Register
let sequence: number

beforeEach(() => {
  clock = createFakeClock()
  bindings = createBindings({ clock })
  register = registrarOf(directory)
  sequence = 0
})

/** Returns a registrar with the existing bindings. */
function registrarOf(asked: SipDirectory): Register {
  const authenticate = createAuthenticator({
    directory: asked,
    nonces: createNonces({ clock }),
    guesses: createGuessLimit(clock),
    algorithms: ['MD5'],
  })
  return createRegistrar({ log: silentLogger, authenticate, bindings, directory: asked, clock })
}

interface Wish {
  readonly uri?: string
  readonly to?: string
  readonly contacts?: readonly string[]
  readonly expires?: string
  readonly headers?: readonly HeaderField[]
  readonly callId?: string
  readonly cseq?: number
}

function toRequest(wish: Wish, authorization: readonly HeaderField[] = []): SipRequest {
  sequence += 1
  const { uri = 'sip:a.example', to = '<sip:alice@a.example>', contacts = [`<${contact}>`] } = wish
  return {
    kind: 'request',
    method: 'REGISTER',
    uri,
    body: new Uint8Array(),
    headers: [
      { name: 'to', value: to },
      { name: 'from', value: `${to};tag=f` },
      { name: 'call-id', value: wish.callId ?? 'c' },
      { name: 'cseq', value: `${wish.cseq ?? sequence} REGISTER` },
      ...contacts.map((value) => ({ name: 'contact', value })),
      ...(wish.expires === undefined ? [] : [{ name: 'expires', value: wish.expires }]),
      ...(wish.headers ?? []),
      ...authorization,
    ],
  }
}

async function send(wish: Wish, from = remote): Promise<SipResponse> {
  const request = toRequest(wish)
  return responseTo(request, await register(request, from))
}

/** Registers as a phone does: once without credentials, once with them. */
async function sendWithDigest(wish: Wish, from = remote, user = credentials): Promise<SipResponse> {
  const challenge = await send(wish, from)
  const uri = wish.uri ?? 'sip:a.example'
  const answer = answerChallenge(challenge, { method: 'REGISTER', uri, credentials: user })
  if (answer === undefined) return challenge
  const request = toRequest(wish, [answer])
  return responseTo(request, await register(request, from))
}

function told(response: SipResponse): unknown[] {
  return [response.status, headerOf(response, 'contact'), headerOf(response, 'expires')]
}

describe('REGISTER', () => {
  it('challenges first and binds then: where it came from, for what was asked', async () => {
    const challenge = await send({})
    expect(challenge.status).toBe(401)
    expect(headerOf(challenge, 'www-authenticate')).toMatch(
      /^Digest realm="a\.example", nonce="[\w-]+", algorithm=MD5, qop="auth"$/,
    )
    const response = await sendWithDigest({ expires: '600', headers: [{ name: 'user-agent', value: 'x/1' }] })
    expect(told(response)).toEqual([200, `<${contact}>;expires=30`, '30'])
    expect(await bindings.get('alice@a.example')).toEqual([
      {
        aor: 'alice@a.example',
        key: 'sip:alice@10.0.0.5:5060;',
        contact,
        instance: undefined,
        q: undefined,
        expiresAt: clock.now() + 600_000,
        registeredAt: clock.now(),
        remote,
        path: [],
        callId: 'c',
        cseq: sequence,
        userAgent: 'x/1',
      },
    ])
  })

  it('answers the granted lifetime over TCP', async () => {
    const response = await sendWithDigest({ expires: '600' }, { ...remote, transport: 'tcp' })
    expect(told(response)).toEqual([200, `<${contact}>;expires=600`, '600'])
  })

  it('takes expires of the Contact before that of the header, and an hour when there is none', async () => {
    const tcp = { ...remote, transport: 'tcp' } as const
    const own = await sendWithDigest({ contacts: [`<${contact}>;expires=90`], expires: '600' }, tcp)
    expect(headerOf(own, 'expires')).toBe('90')
    expect(headerOf(await sendWithDigest({}, tcp), 'expires')).toBe('3600')
    const far = await sendWithDigest({ expires: '4294967296' }, tcp)
    expect(headerOf(far, 'expires')).toBe('86400')
    expect(headerOf(await sendWithDigest({ expires: 'soon' }, tcp), 'expires')).toBe('3600')
  })

  it('answers 423 with Min-Expires to what is too brief', async () => {
    const response = await sendWithDigest({ expires: '5' })
    expect([response.status, headerOf(response, 'min-expires')]).toEqual([423, '30'])
    expect(await bindings.get('alice@a.example')).toEqual([])
  })

  it('answers what is bound to a REGISTER without Contact', async () => {
    expect(told(await sendWithDigest({ contacts: [] }))).toEqual([200, undefined, undefined])
    await sendWithDigest({ expires: '600' })
    clock.advance(100_500)
    expect(told(await sendWithDigest({ contacts: [] }))).toEqual([200, `<${contact}>;expires=500`, '500'])
  })

  it.each([
    ['expires=0', { contacts: [`<${contact}>;expires=0`] }],
    ['Expires: 0', { expires: '0' }],
    ['Contact: *', { contacts: ['*'], expires: '0' }],
  ])('unbinds with %s, but not without a password', async (_name, wish) => {
    await sendWithDigest({})
    expect((await send(wish)).status).toBe(401)
    expect(await bindings.get('alice@a.example')).toHaveLength(1)
    expect(told(await sendWithDigest(wish))).toEqual([200, undefined, '0'])
    expect(await bindings.get('alice@a.example')).toEqual([])
  })

  it('keeps Path and gives it back to who supports it', async () => {
    const path = { name: 'path', value: '<sip:edge.example;lr>, <sip:inner.example;lr>' }
    const supported = { name: 'supported', value: 'outbound, path' }
    const response = await sendWithDigest({ headers: [path, supported] })
    expect(headersOf(response, 'path')).toEqual(['<sip:edge.example;lr>', '<sip:inner.example;lr>'])
    const [binding] = await bindings.get('alice@a.example')
    expect(binding?.path).toEqual(['<sip:edge.example;lr>', '<sip:inner.example;lr>'])
    const inCapitals = { name: 'supported', value: 'Path' }
    const again = await sendWithDigest({ contacts: [], headers: [path, inCapitals] })
    expect(headersOf(again, 'path')).toHaveLength(2)
    expect(headersOf(await sendWithDigest({ contacts: [], headers: [path] }), 'path')).toEqual([])
  })

  it.each<[string, Partial<Remote>, Record<string, string>, unknown[]]>([
    ['comes straight, over UDP', {}, {}, ['outbound', '30']],
    ['comes straight, over TCP', { transport: 'tcp' }, {}, ['outbound', '120']],
    ['supports it in another case', {}, { supported: 'Outbound, PATH' }, ['outbound', '30']],
    ['does not support it', {}, { supported: 'path' }, [undefined, undefined]],
    ['names no flow', {}, { contact: `<${contact}>;+sip.instance="<urn:uuid:1>"` }, [undefined, undefined]],
    [
      'comes by a proxy',
      {},
      { via: 'SIP/2.0/UDP b;branch=2, SIP/2.0/UDP a;branch=1' },
      [undefined, undefined],
    ],
    [
      'comes by an edge that keeps flows',
      {},
      { path: '<sip:e.example;lr>, <sip:f.example;lr;ob>' },
      ['outbound', '30'],
    ],
    ['comes by an edge that does not', {}, { path: '<sip:e.example;lr>' }, [undefined, undefined]],
  ])(
    'asks a phone to keep its flow open (RFC 5626 §6), or not, where it %s',
    async (_what, place, changes, expected) => {
      const fields = { supported: 'outbound, path', via: 'SIP/2.0/UDP a;branch=z9hG4bK1', ...changes }
      const { contact: own = `<${contact}>;+sip.instance="<urn:uuid:1>";reg-id=1`, ...headers } = {
        contact: undefined,
        ...fields,
      }
      const response = await sendWithDigest(
        {
          contacts: [own],
          headers: Object.entries(headers).map(([name, value]) => ({ name, value: String(value) })),
        },
        { ...remote, ...place },
      )
      expect(response.status).toBe(200)
      expect([headerOf(response, 'require'), headerOf(response, 'flow-timer')]).toEqual(expected)
    },
  )

  it('refuses an older CSeq of the same Call-ID, and takes any of another', async () => {
    await sendWithDigest({ cseq: 10, expires: '600' })
    const other = { ...remote, port: 41_000 }
    expect((await sendWithDigest({ cseq: 9 }, other)).status).toBe(500)
    expect((await sendWithDigest({ cseq: 9, callId: 'd' }, other)).status).toBe(200)
    expect((await bindings.get('alice@a.example')).map((binding) => binding.remote)).toEqual([other])
  })
})

describe('an older REGISTER of the same Call-ID (RFC 3261 §10.3 step 7)', () => {
  it.each<[string, Wish, number]>([
    ['for the phone that a newer one bound', { contacts: [`<${contact}>`] }, 500],
    ['that unbinds the phone that a newer one bound', { contacts: [`<${contact}>`], expires: '0' }, 500],
    ['that removes all', { contacts: ['*'], expires: '0' }, 500],
    ['for another phone', { contacts: ['<sip:alice@10.0.0.99>'], expires: '600' }, 200],
    ['that only asks', { contacts: [] }, 200],
  ])('%s is answered %i', async (_what, wish, status) => {
    const tcp = { ...remote, transport: 'tcp' } as const
    await sendWithDigest({ expires: '600', cseq: 50 }, tcp)
    const response = await sendWithDigest({ ...wish, cseq: 49 }, tcp)
    expect(response.status).toBe(status)
    expect((await bindings.get('alice@a.example')).some((there) => there.contact === contact)).toBe(true)
  })
})

describe('a user whose judge decides', () => {
  it.each([
    [undefined, 600],
    [120, 120],
    // The limits of a registration also apply to a judge.
    [1, 30],
    [10_000_000, 86_400],
  ])(
    'is bound for as long as it says (%s s): %i s, without a password to look up',
    async (seconds, expected) => {
      const lookedUp: string[] = []
      register = createRegistrar({
        log: silentLogger,
        authenticate: async () => ({
          verdict: 'accepted',
          user: {
            username: 'alice',
            realm: 'a.example',
            password: undefined,
            judged: seconds === undefined ? {} : { seconds },
          },
        }),
        bindings,
        directory: {
          ...directory,
          findUser: async (_realm, username) => {
            lookedUp.push(username)
            return undefined
          },
        },
        clock,
      })
      expect((await send({ expires: '600' })).status).toBe(200)
      const [binding] = await bindings.get('alice@a.example')
      expect(binding?.expiresAt).toBe(clock.now() + expected * 1_000)
      expect(lookedUp).toEqual([])
    },
  )
})

describe('several phones of one user', () => {
  const aor = 'alice@a.example'
  const tcp = { ...remote, transport: 'tcp' } as const
  const at = (last: number) => `<sip:alice@10.0.0.${last}>`
  const contactsOf = async (): Promise<string[]> =>
    (await bindings.get(aor)).map((binding) => binding.contact)
  const from = (port: number): Remote => ({ ...remote, port })

  it('are all bound and listed in the 200, each with its expires and q, its own first', async () => {
    await sendWithDigest({ contacts: [`${at(5)};q=0.5`], expires: '600', callId: 'one' }, tcp)
    clock.advance(100_000)
    const response = await sendWithDigest({ contacts: [at(6)], expires: '300', callId: 'two' }, tcp)
    expect(headersOf(response, 'contact')).toEqual([`${at(6)};expires=300`, `${at(5)};expires=500;q=0.5`])
    expect(headerOf(response, 'expires')).toBe('300')
    expect(await contactsOf()).toEqual(['sip:alice@10.0.0.6', 'sip:alice@10.0.0.5'])
  })

  it('are each listed with the time that their device was granted, also when it repeats one of them', async () => {
    const both = await sendWithDigest({ contacts: [at(5), at(6)], expires: '600' })
    const granted = [`${at(6)};expires=30`, `${at(5)};expires=30`]
    expect(headersOf(both, 'contact')).toEqual(granted)
    expect(headersOf(await send({ contacts: [at(6)], expires: '600' }), 'contact')).toEqual(granted)
    const one = await sendWithDigest({ contacts: [at(6)], expires: '600', callId: 'c' })
    expect(headersOf(one, 'contact')).toEqual(granted)
    const other = await sendWithDigest({ contacts: [at(7)], expires: '600', callId: 'other' }, from(9))
    expect(headersOf(other, 'contact')).toEqual([
      `${at(7)};expires=30`,
      `${at(6)};expires=600`,
      `${at(5)};expires=600`,
    ])
  })

  it('may come with one REGISTER, and one of them may leave', async () => {
    const response = await sendWithDigest({ contacts: [at(5), `${at(6)}, ${at(7)}`], expires: '600' }, tcp)
    expect(headersOf(response, 'contact')).toHaveLength(3)
    const left = await sendWithDigest({ contacts: [`${at(6)};expires=0`], callId: 'other' }, tcp)
    expect(headersOf(left, 'contact')).toEqual([`${at(7)};expires=600`, `${at(5)};expires=600`])
    expect(headerOf(left, 'expires')).toBe('0')
    expect((await sendWithDigest({ contacts: ['*'], expires: '0' }, tcp)).status).toBe(200)
    expect(await contactsOf()).toEqual([])
  })

  it('are ten at most: the one that registered longest ago gives way, and a keep-alive counts', async () => {
    for (let last = 1; last <= 10; last++)
      await sendWithDigest(
        { contacts: [at(last)], expires: '600', callId: `call ${last}` },
        from(1000 + last),
      )
    expect((await send({ contacts: [at(1)], expires: '600' }, from(1001))).status).toBe(200)
    await sendWithDigest({ contacts: [at(11)], expires: '600', callId: 'call 11' }, from(1011))
    const kept = await contactsOf()
    expect(kept).toHaveLength(10)
    expect(kept.slice(0, 2)).toEqual(['sip:alice@10.0.0.11', 'sip:alice@10.0.0.1'])
    expect(kept).not.toContain('sip:alice@10.0.0.2')
    const many = Array.from({ length: 11 }, (_, last) => at(last))
    expect((await send({ contacts: many })).status).toBe(400)
  })

  it.each([
    ['another port with the same Contact', {}, {}, from(41_000)],
    ['another Contact of the same instance', '10.0.0.5', '10.0.0.99', from(41_000)],
    [
      'a Contact of its new port, which it learned by STUN',
      `${remote.address}:40000`,
      `${remote.address}:41000`,
      from(41_000),
    ],
    ['other parameters in its Contact', '10.0.0.5;rinstance=1', '10.0.0.5;rinstance=2', remote],
  ])('are not what one phone looks like that comes back with %s', async (name, before, after, source) => {
    const instance =
      name.includes('instance of') || name.includes('same instance')
        ? ';+sip.instance="<urn:uuid:1>";reg-id=1'
        : ''
    const wishOf = (host: unknown) => ({
      expires: '600',
      ...(typeof host === 'string' ? { contacts: [`<sip:alice@${host}>${instance}`] } : {}),
    })
    await sendWithDigest(wishOf(before))
    const response = await sendWithDigest(wishOf(after), source)
    expect(headersOf(response, 'contact')).toHaveLength(1)
    expect((await bindings.get(aor)).map((binding) => binding.remote)).toEqual([source])
    if (instance !== '') expect(headerOf(response, 'contact')).toContain(instance)
  })

  it('have a binding for each flow of an instance', async () => {
    const flow = (id: number) => `<sip:alice@10.0.0.5>;+sip.instance="<urn:uuid:1>";reg-id=${id}`
    await sendWithDigest({ contacts: [flow(1)] })
    await sendWithDigest({ contacts: [flow(2)] }, from(41_000))
    expect(await contactsOf()).toHaveLength(2)
  })
})

describe('a phone over UDP without NAT', () => {
  const direct = `sip:alice@${remote.address}:${remote.port}`

  it('is registered for as long as it asks, since its Contact names where its packets come from', async () => {
    const response = await sendWithDigest({ contacts: [`<${direct}>`], expires: '600' })
    expect(told(response)).toEqual([200, `<${direct}>;expires=600`, '600'])
  })

  it('proves itself at each refresh, and is registered for the whole time again', async () => {
    await sendWithDigest({ contacts: [`<${direct}>`], expires: '600' })
    clock.advance(300_000)
    expect((await send({ contacts: [`<${direct}>`], expires: '600' })).status).toBe(401)
    const response = await sendWithDigest({ contacts: [`<${direct}>`], expires: '600' })
    expect(told(response)).toEqual([200, `<${direct}>;expires=600`, '600'])
  })

  it.each([
    ['its own address', '10.0.0.7:5060', '30'],
    ['the address that its packets come from', `${remote.address}:${remote.port}`, '600'],
    ['a name', 'phone.invalid', '600'],
  ])(
    'is none if it has learnt its address behind NAT: with %s in its Via',
    async (_what, sentBy, expires) => {
      const via = { name: 'via', value: `SIP/2.0/UDP ${sentBy};branch=z9hG4bK1` }
      const response = await sendWithDigest({ contacts: [`<${direct}>`], expires: '600', headers: [via] })
      expect(headerOf(response, 'expires')).toBe(expires)
    },
  )

  it.each([
    ['names it', 'sip:alice@198.51.100.7:5090', '600'],
    ['names another address', 'sip:alice@10.0.0.7:5090', '30'],
    ['names no address', 'sip:alice@phone.invalid', '30'],
  ])('is one also behind an edge that has heard it where its Contact %s', async (_what, uri, expires) => {
    const path = { name: 'path', value: '<sip:192.0.2.200;lr;received=sip:198.51.100.7%3A5090>' }
    const response = await sendWithDigest({ contacts: [`<${uri}>`], expires: '600', headers: [path] })
    expect(headerOf(response, 'expires')).toBe(expires)
  })
})

describe('a REGISTER that only keeps the NAT open', () => {
  beforeEach(async () => {
    await sendWithDigest({ expires: '600' })
  })

  it('is answered without a challenge while more than 30 s are left, and changes nothing', async () => {
    const before = await bindings.get('alice@a.example')
    clock.advance(569_000)
    expect(told(await send({ expires: '600' }))).toEqual([200, `<${contact}>;expires=30`, '30'])
    expect(await bindings.get('alice@a.example')).toEqual(before)
  })

  const lost: readonly [string, Partial<SipDirectory>, readonly unknown[]][] = [
    ['client', { findUser: async () => undefined }, [401, undefined]],
    ['realm', { realmState: async () => 'unknown' }, [403, 'Unknown or invalid realm']],
    ['account', { realmState: async () => 'inactive' }, [403, 'Account exists but is inactive']],
  ]
  it.each(lost)('finds no binding when another node took its %s away', async (_what, gone, refusal) => {
    register = registrarOf({ ...directory, ...gone })
    const response = await send({ expires: '600' })
    expect([response.status, headerOf(response, 'x-reason')]).toEqual(refusal)
    expect(await bindings.get('alice@a.example')).toEqual([])
  })

  it('stays if only a judge has the user, and while the directory does not respond', async () => {
    const findUser = async () => undefined
    const judgeOf = async () => async () => ({ verdict: 'accepted' as const })
    register = registrarOf({ ...directory, findUser, judgeOf })
    expect((await send({ expires: '600' })).status).toBe(200)
    register = registrarOf({ ...directory, findUser: () => Promise.reject(new Error('no database')) })
    expect((await send({ expires: '600' })).status).toBe(200)
  })

  it('is challenged when 30 s or less are left', async () => {
    clock.advance(570_000)
    expect((await send({ expires: '600' })).status).toBe(401)
  })

  it.each([
    ['another port', {}, { ...remote, port: 40_001 }],
    ['another address', {}, { ...remote, address: '198.51.100.8' }],
    ['another transport', {}, { ...remote, transport: 'tcp' as const }],
    ['another Contact', { contacts: ['<sip:mallory@10.0.0.9>'] }, remote],
    ['another address of record', { to: '<sip:bob@a.example>' }, remote],
    ['another phone beside it', { contacts: [`<${contact}>`, '<sip:alice@10.0.0.9>'] }, remote],
    ['an instance that it did not name', { contacts: [`<${contact}>;+sip.instance="<urn:uuid:1>"`] }, remote],
    [
      'another Path',
      { headers: [{ name: 'path', value: '<sip:edge.example;lr;received=sip:10.0.0.9>' }] },
      remote,
    ],
    ['the wish to leave', { expires: '0' }, remote],
  ])('is challenged when it comes with %s', async (_name, wish, from) => {
    expect((await send(wish, from)).status).toBe(401)
  })
})

describe('a REGISTER that is refused', () => {
  const reasonOf = (response: SipResponse): unknown[] => [response.status, headerOf(response, 'x-reason')]

  it('with a wrong password and with an unknown user looks the same', async () => {
    const wrong = await sendWithDigest({}, remote, { username: 'alice', password: 'guess' })
    const unknown = await sendWithDigest({}, remote, { username: 'unknown', password: 'guess' })
    expect(reasonOf(wrong)).toEqual([403, 'Invalid credentials'])
    expect(reasonOf(unknown)).toEqual(reasonOf(wrong))
    expect(headersOf(wrong, 'www-authenticate')).toEqual([])
  })

  it.each([
    ['an unknown realm', { uri: 'sip:b.example', to: '<sip:alice@b.example>' }],
    ['an IPv4 address for a realm', { uri: 'sip:192.0.2.1', to: '<sip:alice@192.0.2.1>' }],
    ['an IPv6 address for a realm', { uri: 'sip:[2001:db8::1]', to: '<sip:alice@[2001:db8::1]>' }],
    ['a To of another realm', { to: '<sip:alice@off.example>' }],
    ['a To without a user', { to: '<sip:a.example>' }],
  ])('for %s gets 403', async (_name, wish) => {
    expect(reasonOf(await send(wish))).toEqual([403, 'Unknown or invalid realm'])
  })

  it('for an inactive account gets 403', async () => {
    const response = await send({ uri: 'sip:off.example', to: '<sip:alice@off.example>' })
    expect(reasonOf(response)).toEqual([403, 'Account exists but is inactive'])
  })

  it('for the address of another user gets 403', async () => {
    const response = await sendWithDigest({ to: '<sip:bob@a.example>' })
    expect(reasonOf(response)).toEqual([403, 'These credentials are not for this address of record'])
    expect(await bindings.get('bob@a.example')).toEqual([])
  })

  it.each([
    ['a Contact that is no URI', { contacts: ['nonsense'] }],
    ['a Contact of another scheme', { contacts: ['<tel:+441234>'] }],
    ['an endless Contact', { contacts: [`<sip:${'a'.repeat(600)}@10.0.0.5>`] }],
    ['a Contact with a line break', { contacts: ['<sip:alice@10.0.0.5\r\nVia:x>'] }],
    ['* beside another Contact', { contacts: ['*', `<${contact}>`], expires: '0' }],
    ['* without Expires: 0', { contacts: ['*'] }],
    ['a Path that is no route', { headers: [{ name: 'path', value: '<tel:+441234>' }] }],
    [
      'an endless Path',
      { headers: [{ name: 'path', value: Array(100).fill('<sip:edge.example;lr>').join(', ') }] },
    ],
  ])('for %s gets 400 and a sentence', async (_name, wish: Wish) => {
    const response = await sendWithDigest(wish)
    expect(response.status).toBe(400)
    expect(headerOf(response, 'x-reason')).toMatch(/\w/)
  })

  it('beyond the bound of the registrar gets 503, and who is bound may still refresh', async () => {
    const full = createBindings({ clock, capacity: 1 })
    const authenticate = createAuthenticator({
      directory,
      nonces: createNonces({ clock }),
      guesses: createGuessLimit(clock),
      algorithms: ['MD5'],
    })
    register = createRegistrar({ log: silentLogger, authenticate, bindings: full, directory, clock })
    expect((await sendWithDigest({})).status).toBe(200)
    const bob = { username: 'bob', password: 'secret' }
    const second = await sendWithDigest({ to: '<sip:bob@a.example>' }, remote, bob)
    expect([second.status, headerOf(second, 'retry-after')]).toEqual([503, '30'])
    expect((await sendWithDigest({ expires: '700' })).status).toBe(200)
  })
})

describe('digest', () => {
  it('challenges again with stale=true when the nonce is old, and takes the same password then', async () => {
    const challenge = await send({})
    clock.advance(61_000)
    const again = { method: 'REGISTER', uri: 'sip:a.example', credentials }
    const late = answerChallenge(challenge, again)
    const request = toRequest({}, late === undefined ? [] : [late])
    const stale = responseTo(request, await register(request, remote))
    expect(stale.status).toBe(401)
    expect(headerOf(stale, 'www-authenticate')).toMatch(/, stale=true$/)
    const fresh = answerChallenge(stale, again)
    const final = toRequest({}, fresh === undefined ? [] : [fresh])
    expect((await register(final, remote)).status).toBe(200)
  })

  it.each(['sip:192.0.2.4:5060', 'sip:b.example'])(
    'takes credentials that were computed for another URI: %s',
    async (uri) => {
      const challenge = await send({})
      const answer = answerChallenge(challenge, { method: 'REGISTER', uri, credentials })
      const request = toRequest({}, answer === undefined ? [] : [answer])
      expect((await register(request, remote)).status).toBe(200)
    },
  )

  it('knows a phone that was configured with our address by the domain of To', async () => {
    const uri = 'sip:192.0.2.4'
    const challenge = await send({ uri })
    expect(headerOf(challenge, 'www-authenticate')).toContain('realm="a.example"')
    const answer = answerChallenge(challenge, { method: 'REGISTER', uri, credentials })
    const request = toRequest({ uri }, answer === undefined ? [] : [answer])
    expect((await register(request, remote)).status).toBe(200)
    expect(await bindings.get('alice@a.example')).toHaveLength(1)
  })

  it('does not take the same credentials twice', async () => {
    const challenge = await send({})
    const answer = answerChallenge(challenge, { method: 'REGISTER', uri: 'sip:a.example', credentials })
    const headers = answer === undefined ? [] : [answer]
    expect((await register(toRequest({}, headers), remote)).status).toBe(200)
    const replay = await register(toRequest({ contacts: ['<sip:mallory@203.0.113.9>'] }, headers), remote)
    expect(replay.status).toBe(401)
  })
})

describe('createBindings', () => {
  const binding = (aor: string, expiresAt: number) => ({
    aor,
    key: contact,
    contact,
    instance: undefined,
    q: undefined,
    expiresAt,
    registeredAt: 1_000,
    remote,
    path: [],
    callId: 'c',
    cseq: 1,
    userAgent: undefined,
  })

  it('shows what lives, sorted, of one realm, and forgets the rest', async () => {
    await bindings.put(binding('b@a.example', clock.now() + 100_000))
    await bindings.put(binding('a@a.example', clock.now() + 30_000))
    await bindings.put(binding('a@b.example', clock.now() + 100_000))
    const names = async (): Promise<string[]> => (await bindings.list('A.example')).map(({ aor }) => aor)
    expect(await names()).toEqual(['a@a.example', 'b@a.example'])
    clock.advance(30_000)
    expect(await names()).toEqual(['b@a.example'])
    expect(await bindings.get('a@a.example')).toEqual([])
    clock.advance(30_000)
    expect(bindings.size).toBe(2)
    clock.advance(120_000)
    expect(bindings.size).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('refuses a new one beyond its bound, and removes what is not there without a word', async () => {
    const small = createBindings({ clock, capacity: 1 })
    await small.put(binding('a@a.example', clock.now() + 1_000))
    await expect(small.put(binding('b@a.example', clock.now() + 1_000))).rejects.toThrow(AppError)
    await small.remove('c@a.example')
    expect(small.size).toBe(1)
    small.close()
  })
})

describe('the admission of devices', () => {
  it('is called for each new phone, and its refusal is a 503 with the reason that binds nothing', async () => {
    const asked: string[] = []
    let refused: string | undefined
    const authenticate = createAuthenticator({
      directory,
      nonces: createNonces({ clock }),
      guesses: createGuessLimit(clock),
      algorithms: ['MD5'],
    })
    register = createRegistrar({
      log: silentLogger,
      authenticate,
      bindings,
      directory: {
        ...directory,
        async admitDevice({ key }, bind) {
          asked.push(key)
          if (refused === undefined) await bind()
          return refused
        },
      },
      clock,
    })
    refused = 'Max Devices Registered'
    const response = await sendWithDigest({})
    expect([response.status, response.reason, headerOf(response, 'x-reason')]).toEqual([
      503,
      refused,
      refused,
    ])
    expect(await bindings.get('alice@a.example')).toEqual([])
    refused = undefined
    expect((await sendWithDigest({})).status).toBe(200)
    expect(await bindings.get('alice@a.example')).toHaveLength(1)
    refused = 'Max Devices Registered'
    expect((await sendWithDigest({})).status).toBe(200)
    expect((await sendWithDigest({ contacts: ['<sip:alice@192.0.2.77>'] })).status).toBe(503)
    expect((await sendWithDigest({ expires: '0' })).status).toBe(200)
    const known = 'sip:alice@10.0.0.5:5060;'
    expect(asked).toEqual([known, known, 'sip:alice@192.0.2.77:;'])
  })

  it('binds all contacts of a REGISTER or none: what it replaced and removed is back after a refusal', async () => {
    const admitDevice: SipDirectory['admitDevice'] = async ({ key }, bind) => {
      if (key.includes('192.0.2.78')) return 'Max Devices Registered'
      if (key.includes('192.0.2.79')) throw new AppError('overloaded', 'too many phones')
      await bind()
      return undefined
    }
    register = registrarOf({ ...directory, admitDevice })
    const [desk, hall] = ['<sip:alice@192.0.2.75>', '<sip:alice@192.0.2.76>']
    await sendWithDigest({ contacts: [desk], expires: '600', callId: 'desk' })
    await sendWithDigest({ contacts: [hall], expires: '600', callId: 'hall' })
    const before = await bindings.get('alice@a.example')
    for (const last of ['<sip:alice@192.0.2.78>', '<sip:alice@192.0.2.79>']) {
      const contacts = [`${desk};expires=0`, `${hall};q=0.1`, '<sip:alice@192.0.2.77>', last]
      expect((await sendWithDigest({ contacts, expires: '900' })).status).toBe(503)
      expect(new Set(await bindings.get('alice@a.example'))).toEqual(new Set(before))
    }
    expect((await sendWithDigest({ contacts: [hall, '<sip:alice@192.0.2.77>'] })).status).toBe(200)
    expect(await bindings.get('alice@a.example')).toHaveLength(3)
  })

  it('is not called for a bound phone that changes', async () => {
    const asked: string[] = []
    const admitDevice: SipDirectory['admitDevice'] = async ({ key }, bind) => {
      asked.push(key)
      await bind()
      return undefined
    }
    const authenticate = createAuthenticator({
      directory,
      nonces: createNonces({ clock }),
      guesses: createGuessLimit(clock),
      algorithms: ['MD5'],
    })
    register = createRegistrar({
      log: silentLogger,
      authenticate,
      bindings,
      directory: { ...directory, admitDevice },
      clock,
    })
    const tcp = { ...remote, transport: 'tcp' } as const
    for (const [index, place] of [remote, tcp, { ...tcp, port: 41_000 }].entries())
      expect((await sendWithDigest({ callId: `call ${index}` }, place)).status).toBe(200)
    expect(asked).toEqual(['sip:alice@10.0.0.5:5060;'])
    expect(await bindings.get('alice@a.example')).toHaveLength(1)
  })
})
