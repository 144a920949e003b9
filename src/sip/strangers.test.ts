// The cost of strangers, over real sockets with different addresses.
import { afterEach, describe, expect, it } from 'vitest'
import { openRawPhone, rawRequest, type RawPhone } from '../../test/support/phone.ts'
import { until } from '../../test/support/wait.ts'
import { systemClock } from '../lib/clock.ts'
import { createFakeClock } from '../../test/support/fake-clock.ts'
import { silentLogger } from '../lib/log.ts'
import { digestResponse } from './auth/digest.ts'
import { createSip } from './create-sip.ts'
import type { IncomingInvite } from './invites.ts'
import type { Sip, SipOptions } from './sip.ts'
import type { UserAgent } from './user-agent.ts'

const realm = 'example.test'
const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function start(options: Partial<SipOptions> = {}): Promise<UserAgent> {
  const invited = async (invite: IncomingInvite): Promise<void> => {
    const result = await sip.authenticate(invite.request, invite.remote)
    invite.reject(result.verdict === 'accepted' ? { status: 486 } : result.reply)
  }
  const sip = createSip({
    bind: '127.0.0.1',
    port: 0,
    directory: {
      realmState: async () => 'active',
      findUser: async (name, username) => ({ username, realm: name, password: 'secret' }),
    },
    clock: systemClock,
    log: silentLogger,
    userAgent: 'Switchhook/test',
    handlers: { invited: (invite) => void invited(invite) },
    ...options,
  })
  await sip.start()
  closing.push(() => sip.stop())
  return sip
}

async function open({ listening }: Sip, address?: string): Promise<RawPhone> {
  const phone = await openRawPhone({ address: '127.0.0.1', port: listening.port }, address)
  closing.push(() => phone.close())
  return phone
}

const isFinal = ({ start: line }: { readonly start: string }): boolean => /^SIP\/2\.0 [2-6]/.test(line)

async function ask(phone: RawPhone, request: string): Promise<string> {
  const from = phone.received.items.length
  await phone.send(request)
  return (await phone.received.next('a final response', isFinal, { from })).text
}

interface Credentials {
  readonly nonce: string
  readonly password: string
  readonly username?: string
}

function register(phone: RawPhone, credentials?: Credentials): string {
  const { username = 'alice', password = '', nonce = '' } = credentials ?? {}
  const lines = [`From: <sip:${username}@${realm}>;tag=a`, `To: <sip:${username}@${realm}>`]
  const uri = `sip:${realm}`
  if (credentials === undefined) return rawRequest('REGISTER', uri, phone, lines)
  const method = 'REGISTER'
  const response = digestResponse({
    algorithm: 'MD5',
    username,
    realm,
    password,
    method,
    uri,
    nonce,
    qop: undefined,
  })
  const value = `Digest username="${username}", realm="${realm}", nonce="${nonce}", uri="${uri}", response="${response}"`
  return rawRequest(method, uri, phone, [...lines, `Authorization: ${value}`])
}

const nonceOf = (text: string): string => /nonce="([^"]+)"/.exec(text)?.[1] ?? ''
const tagOf = (text: string): string | undefined => /^To: .*;tag=(\S+)/im.exec(text)?.[1]

describe('a request that proves nothing', () => {
  it.each([
    ['OPTIONS', [], 200],
    ['REGISTER', [`To: <sip:alice@${realm}>`], 401],
    ['REGISTER', [`To: <sip:alice@${realm}>`, 'Authorization: Digest nonsense'], 401],
    ['REGISTER', ['To: <sip:alice@another.test>'], 403],
    ['BYE', [], 481],
    ['BYE', [`To: <sip:x@${realm}>;tag=gone`], 481],
    ['INVITE', [`To: <sip:x@${realm}>;tag=gone`], 481],
    ['INVITE', [], 401],
    ['INVITE', ['Authorization: Digest nonsense'], 401],
    ['PUBLISH', [], 405],
  ] as const)(
    '%s %j is answered %i once, alike when it is repeated, and kept nowhere',
    async (method, lines, status) => {
      const clock = createFakeClock()
      const sip = await start({ clock })
      const phone = await open(sip)
      const request = rawRequest(method, `sip:${realm}`, phone, lines)
      const first = await ask(phone, request)
      expect(first).toMatch(new RegExp(`^SIP/2\\.0 ${status} `))
      expect(sip.counters).toMatchObject({ server: 0, calls: 0 })
      clock.advance(40_000)
      // Retransmissions that the clock triggered would arrive before the response to this request.
      const second = await ask(phone, request)
      expect(phone.received.items).toHaveLength(2)
      expect(tagOf(second)).toBe(tagOf(first))
      expect(tagOf(first)).toBeDefined()
    },
  )

  it('is answered 400 where a line of it cannot be read, at its source alone and within the budget of it', async () => {
    const clock = createFakeClock()
    const sip = await start({ clock })
    const [phone, named] = [await open(sip), await open(sip)]
    const bad = (method: string, line: string, from: RawPhone = phone): string =>
      rawRequest(method, `sip:x@${realm}`, from, [line])
    for (const [line, reason] of [
      ['Subject: a\rVia: b', 'Bare CR in a header field'],
      ['Subject: a\0', 'NUL in a header field'],
      ['Subject', 'Header field without a colon'],
      ['From: <sip:a@b>;tag=1\rX: b', 'Bare CR in a header field'],
      ['To: "a\0" <sip:c@d>', 'NUL in a header field'],
      ['Call-ID: a\rb\0c', 'Bare CR in a header field'],
    ] as const) {
      const text = await ask(phone, bad('INVITE', line))
      expect(text).toMatch(/^SIP\/2\.0 400 /)
      expect(text).toContain(`\r\nX-Reason: ${reason}\r\n`)
      expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n\0]|Subject/)
      expect(text.match(/^(?:Via|From|To|Call-ID|CSeq): /gm)).toHaveLength(5)
    }
    // Its Via names another place, without rport.
    await ask(phone, bad('INVITE', 'Subject', named).replace(';rport', ''))
    expect(named.received.items).toEqual([])
    const before = phone.received.items.length
    const [, ...rest] = rawRequest('INVITE', 'sip:x', phone, ['Subject']).split('\r\n')
    await phone.send(['SIP/2.0 200 OK', ...rest].join('\r\n'))
    for (const [method, line] of [
      ['ACK', 'Subject'],
      ['INVITE', 'CSeq: 1 INVITE\rX: b'],
    ] as const)
      await phone.send(bad(method, line))
    expect(await ask(phone, rawRequest('OPTIONS', `sip:${realm}`, phone))).toMatch(/^SIP\/2\.0 200 /)
    expect(phone.received.items).toHaveLength(before + 1)
    expect(sip.counters).toMatchObject({ server: 0, calls: 0 })
    const scanner = await openRawPhone({ address: '127.0.0.1', port: sip.listening.port }, '127.0.0.2')
    closing.push(() => scanner.close())
    for (let count = 0; count < 250; count += 1) await scanner.send(bad('INVITE', 'Subject', scanner))
    await ask(phone, rawRequest('OPTIONS', `sip:${realm}`, phone))
    await scanner.received.next('the last answer', () => scanner.received.items.length === 200)
    await ask(phone, rawRequest('OPTIONS', `sip:${realm}`, phone))
    expect(scanner.received.items).toHaveLength(200)
  })

  it('from an address that sends without end is read 200 times, and every phone elsewhere is answered as ever', async () => {
    const clock = createFakeClock()
    const sip = await start({ clock })
    const scanner = await open(sip, '127.0.0.2')
    const phone = await open(sip, '127.0.0.3')
    for (let count = 0; count < 600; count += 1) {
      const method = ['OPTIONS', 'REGISTER', 'INVITE'][count % 3] ?? ''
      await scanner.send(rawRequest(method, `sip:${realm}`, scanner))
      if (count % 100 !== 0) continue
      const challenge = await ask(phone, register(phone))
      const registered = await ask(phone, register(phone, { nonce: nonceOf(challenge), password: 'secret' }))
      expect(registered).toMatch(/^SIP\/2\.0 200 /)
    }
    await ask(phone, rawRequest('OPTIONS', `sip:${realm}`, phone))
    await until('the answers of the scanner', () => scanner.received.items.length >= 200)
    expect(scanner.received.items).toHaveLength(200)
    expect(sip.counters.refused).toBe(0)
  })
})

describe('a nonce', () => {
  it('that was fetched at another address is stale there, and counts no failure', async () => {
    const sip = await start()
    const [thief, victim] = [await open(sip, '127.0.0.2'), await open(sip, '127.0.0.3')]
    for (let count = 0; count < 12; count += 1) {
      const nonce = nonceOf(await ask(thief, register(thief)))
      const text = await ask(victim, register(victim, { nonce, password: 'wrong' }))
      expect(text).toMatch(/^SIP\/2\.0 401 /)
      expect(text).toMatch(/stale=true/)
    }
    const nonce = nonceOf(await ask(victim, register(victim)))
    expect(await ask(victim, register(victim, { nonce, password: 'secret' }))).toMatch(/^SIP\/2\.0 200 /)
  })

  it('is taken from another port of its address, as NAT changes them', async () => {
    const sip = await start()
    const [before, after] = [await open(sip, '127.0.0.2'), await open(sip, '127.0.0.2')]
    const nonce = nonceOf(await ask(before, register(before)))
    expect(await ask(after, register(after, { nonce, password: 'secret' }))).toMatch(/^SIP\/2\.0 200 /)
  })
})

describe('one nonce and many names', () => {
  it('end after 50 wrong passwords, and never for a phone that was right at the same address', async () => {
    const sip = await start()
    const [phone, scanner] = [await open(sip, '127.0.0.2'), await open(sip, '127.0.0.3')]
    const nonce = nonceOf(await ask(scanner, register(scanner)))
    const sentences = new Set<string>()
    for (let count = 0; count < 60; count += 1) {
      const text = await ask(
        scanner,
        register(scanner, { nonce, password: 'wrong', username: `user${count}` }),
      )
      sentences.add(/^X-Reason: (.*)$/m.exec(text)?.[1]?.trim() ?? text)
    }
    expect([...sentences]).toEqual([
      'Invalid credentials',
      'Too many failed attempts; wait a minute and try again',
    ])
    const own = nonceOf(await ask(phone, register(phone)))
    expect(await ask(phone, register(phone, { nonce: own, password: 'secret' }))).toMatch(/^SIP\/2\.0 200 /)
  })
})
